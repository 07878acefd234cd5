import type { GeneratedRequest } from './generate.ts';
import type { Material } from './values.ts';

/** What an answer told beyond its rows. */
export interface Learned {
  /** Secrets that this answer alone may show. */
  readonly secrets: readonly string[];
}

/** Takes over ids and API tokens of an answer, for the requests that follow. */
export function learn(
  material: Material,
  { route, path, headers }: Pick<GeneratedRequest, 'route' | 'path' | 'headers'>,
  { status, text }: { readonly status: number; readonly text: string },
): Learned {
  const takeId = (ids: string[]): Learned => {
    const { id } = JSON.parse(text);
    if (!ids.includes(id)) ids.push(id);
    const { authorization } = headers;
    if (authorization !== undefined) material.owners.set(id, authorization);
    return { secrets: [] };
  };
  if (status >= 300) return { secrets: [] };
  switch (route?.id) {
    case 'createConnection':
      return takeId(material.connectionIds);
    case 'enrollRepo':
      return takeId(material.repoIds);
    case 'createTicket':
      return { secrets: [JSON.parse(text).ticket] };
    case 'createToken': {
      const { id, token, scopes } = JSON.parse(text);
      material.apiTokens.push({ id, scopes, text: token, revoked: false });
      if (headers.authorization !== undefined) material.owners.set(id, headers.authorization);
      return { secrets: [token] };
    }
    case 'deleteToken': {
      const gone = material.apiTokens.find(({ id }) => path.toLowerCase().includes(id));
      if (gone !== undefined) gone.revoked = true;
      return { secrets: [] };
    }
    default:
      return { secrets: [] };
  }
}
