/** Functions that answer HTTP. Each is one bundle in `dist/<name>`. */
export type HttpSurface = 'webhooks-forge' | 'public';

export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As API Gateway writes it: `{id}` is one segment. */
  readonly path: `/${string}`;
  readonly surface: HttpSurface;
}

/** THE table of public routes: the stack makes its routes from it and a test compares the two. */
export const ROUTES = [
  { method: 'POST', path: '/api/v1/webhooks/forge', surface: 'webhooks-forge' },
] as const satisfies readonly RouteSpec[];

/** Answers what no route matches with the 404 envelope; the gateway's own 404 has another shape (D-77). */
export const CATCH_ALL_SURFACE = 'public' satisfies HttpSurface;
