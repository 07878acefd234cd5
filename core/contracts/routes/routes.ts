import { ACCOUNT_ROUTES } from './account-routes.ts';
import { AUTHOR_ROUTES } from './author-routes.ts';
import { EVIDENCE_ROUTES } from './evidence-routes.ts';
import { HISTORY_ROUTES } from './history-routes.ts';
import { REPO_ROUTES } from './repo-routes.ts';
import type { HttpSurface, RouteSpec } from './route-spec.ts';
import { TOKEN_ROUTES } from './token-routes.ts';

/** THE table of public routes: gateway routes, router, validation, serializers, document, client and tests come from it. */
export const ROUTES = [
  ...REPO_ROUTES,
  ...ACCOUNT_ROUTES,
  ...TOKEN_ROUTES,
  ...AUTHOR_ROUTES,
  ...EVIDENCE_ROUTES,
  ...HISTORY_ROUTES,
] as const satisfies readonly RouteSpec[];

export type Route = (typeof ROUTES)[number];
export type RouteId = Route['id'];
export type RouteById<Id extends RouteId> = Extract<Route, { readonly id: Id }>;
export type RouteIdOf<Surface extends HttpSurface> = Extract<Route, { readonly surface: Surface }>['id'];

/** Answers what no route matches, 404 or 405, in the envelope; the gateway's own 404 has another shape (D-77). */
export const CATCH_ALL_SURFACE = 'public' satisfies HttpSurface;
