export type FormValue = string | FormFields;
export interface FormFields {
  [name: string]: FormValue;
}

/** `items[0][price]=x` as nested fields, the way the provider's API takes them. */
export function parseForm(text: string): FormFields {
  const root: FormFields = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/[^[\]]+/g)].map(([part]) => part);
    let at = root;
    path.forEach((part, index) => {
      if (index === path.length - 1) {
        at[part] = value;
        return;
      }
      const inner = at[part];
      const next: FormFields = typeof inner === 'object' ? inner : Object.create(null);
      at[part] = next;
      at = next;
    });
  }
  return root;
}

export function textOf(fields: FormFields, name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' ? value : null;
}

export function fieldsOf(fields: FormFields, name: string): FormFields {
  const value = fields[name];
  return typeof value === 'object' ? value : {};
}

/** Entries of `name[0]`, `name[1]` … */
export function listOf(fields: FormFields, name: string): readonly FormFields[] {
  return Object.values(fieldsOf(fields, name)).filter((each): each is FormFields => typeof each === 'object');
}

/** Flat texts of `name[key]`. */
export function textsOf(fields: FormFields, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fieldsOf(fields, name)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}
