import type { SocketRoutes } from '../../core/adapters/websocket/socket-hub.ts';
import { isObject, type Json } from '../../core/ports/invocable.ts';
import type { FunctionPool } from './function-pool.ts';
import { asList, asObject, asText, fail, type Template } from './template.ts';

/** The WebSocket API of a template, at most one; null when it has none. */
export function readSocketRoutes(
  template: Template,
  functions: ReadonlyMap<string, FunctionPool>,
): SocketRoutes | null {
  const [api, ...others] = template
    .ofType('AWS::ApiGatewayV2::Api')
    .filter(({ properties }) => properties.ProtocolType === 'WEBSOCKET');
  if (api === undefined) return null;
  if (others.length > 0) return fail(api.id, 'two WebSocket APIs cannot run here');
  const isOf = (value: Json | undefined): boolean => isObject(value) && value.Ref === api.id;
  const routes = template
    .ofType('AWS::ApiGatewayV2::Route')
    .filter(({ properties }) => isOf(properties.ApiId));
  const find = (key: string): FunctionPool => {
    const route = routes.find(({ properties }) => properties.RouteKey === key);
    if (route === undefined) return fail(api.id, `there is no route ${key}`);
    const parts = asList(
      asList(asObject(route.properties.Target, route.id)['Fn::Join'], route.id)[1],
      route.id,
    );
    const integration = template.target(parts[1], route.id);
    return functionIn(template, functions, integration.properties.IntegrationUri, integration.id);
  };
  const [stage] = template
    .ofType('AWS::ApiGatewayV2::Stage')
    .filter(({ properties }) => isOf(properties.ApiId));
  return {
    connect: find('$connect'),
    disconnect: find('$disconnect'),
    fallback: find('$default'),
    answers: template
      .ofType('AWS::ApiGatewayV2::RouteResponse')
      .some(({ properties }) => isOf(properties.ApiId)),
    stage: asText(stage?.properties.StageName, api.id),
  };
}

/** An address of the gateway's own, with the function's inside it. */
function functionIn(
  template: Template,
  functions: ReadonlyMap<string, FunctionPool>,
  uri: Json | undefined,
  where: string,
): FunctionPool {
  const parts = asList(asList(asObject(uri, where)['Fn::Join'], where)[1], where);
  for (const part of parts) {
    if (!isObject(part) || part['Fn::GetAtt'] === undefined) continue;
    const found = functions.get(template.target(part, where).id);
    if (found !== undefined) return found;
  }
  return fail(where, 'its address names no function');
}
