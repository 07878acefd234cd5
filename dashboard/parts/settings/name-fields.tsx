import { Field } from '../frame/basics.tsx';

/** The names in a text field: separated by commas, without empty ones. */
export function toNames(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A text field for each list of names of a form. */
export function NameFields<Name extends string>({
  fields,
  draft,
  wrong,
  onChange,
}: {
  readonly fields: readonly (readonly [name: Name, label: string, hint: string])[];
  readonly draft: Readonly<Record<Name, string>>;
  /** Field that the service refused; null: none. */
  readonly wrong: string | null;
  readonly onChange: (name: Name, text: string) => void;
}) {
  return fields.map(([name, label, hint]) => (
    <Field
      key={name}
      label={label}
      hint={hint}
      error={
        wrong === name ? 'A name is too long or not printable ASCII, or there are too many names.' : null
      }
    >
      {(ids) => (
        <input
          {...ids}
          type="text"
          value={draft[name]}
          onChange={(event) => onChange(name, event.target.value)}
        />
      )}
    </Field>
  ));
}
