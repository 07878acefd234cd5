import { type FormFields, fieldsOf, listOf, parseForm, textOf, textsOf } from './form.ts';
import { type CheckoutSession, type Customer, found, PRORATIONS, ProviderError } from './model.ts';
import type { PaymentsWorld } from './world.ts';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** Parameters of each call that are known; the provider refuses all others by name. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'POST /v1/customers': ['metadata', 'email', 'name', 'description'],
  'POST /v1/checkout/sessions': [
    'mode',
    'customer',
    'client_reference_id',
    'line_items',
    'subscription_data',
    'metadata',
    'success_url',
    'cancel_url',
  ],
  'GET /v1/checkout/sessions': ['customer', 'status', 'limit', 'starting_after'],
  'POST /v1/checkout/sessions/{id}/expire': [],
  'POST /v1/billing_portal/sessions': ['customer', 'return_url'],
  'POST /v1/subscriptions/{id}': ['items', 'proration_behavior', 'payment_behavior', 'metadata'],
  'DELETE /v1/subscriptions/{id}': ['invoice_now', 'prorate'],
  'GET /v1/subscriptions': ['customer', 'status', 'limit'],
};

/** The calls of the provider's API that are used here. Throws `ProviderError`. */
export function answerApi(world: PaymentsWorld, request: ApiRequest): object {
  const { method, path } = request;
  const [, id] =
    /^\/v1\/(?:customers|prices|subscriptions|checkout\/sessions)\/([^/]+)(?:\/expire)?$/.exec(path) ?? [];
  const route = `${method} ${id === undefined ? path : path.replace(id, '{id}')}`;
  const fields = method === 'GET' ? parseForm(request.query.toString()) : parseForm(request.body);
  refuseUnknown(route, fields);
  switch (route) {
    case 'POST /v1/customers':
      return showCustomer(world.createCustomer(textsOf(fields, 'metadata'), textOf(fields, 'email')));
    case 'GET /v1/customers/{id}':
      return showCustomer(found(world.state.customers[id ?? ''], 'customer', id ?? ''));
    case 'GET /v1/prices/{id}':
      return world.price(id ?? '');
    case 'POST /v1/checkout/sessions':
      return showSession(createCheckout(world, fields));
    case 'GET /v1/checkout/sessions':
      return listSessions(world, fields);
    case 'GET /v1/checkout/sessions/{id}':
      return showSession(world.session(id ?? ''));
    case 'POST /v1/checkout/sessions/{id}/expire':
      return showSession(world.expire(id ?? ''));
    case 'POST /v1/billing_portal/sessions':
      return world.createPortal(need(fields, 'customer'), textOf(fields, 'return_url') ?? '');
    case 'GET /v1/subscriptions':
      return listSubscriptions(world, fields);
    case 'GET /v1/subscriptions/{id}':
      return world.subscription(id ?? '');
    case 'POST /v1/subscriptions/{id}':
      return changeSubscription(world, id ?? '', fields);
    case 'DELETE /v1/subscriptions/{id}':
      return cancelSubscription(world, id ?? '');
    default:
      throw new ProviderError(404, 'invalid_request_error', 'url_invalid', 'Unrecognized request URL.');
  }
}

function refuseUnknown(route: string, fields: FormFields): void {
  const unknown = Object.keys(fields).find(
    (name) => KNOWN[route] !== undefined && !KNOWN[route]?.includes(name),
  );
  if (unknown === undefined) return;
  throw new ProviderError(400, 'invalid_request_error', 'parameter_unknown', `Unknown parameter: ${unknown}`);
}

function need(fields: FormFields, name: string): string {
  const value = textOf(fields, name);
  if (value !== null && value !== '') return value;
  throw new ProviderError(400, 'invalid_request_error', 'parameter_missing', `Missing parameter: ${name}.`);
}

function createCheckout(world: PaymentsWorld, fields: FormFields): CheckoutSession {
  const lines = listOf(fields, 'line_items');
  if (lines.length === 0) need(fields, 'line_items');
  return world.createCheckout({
    customer: need(fields, 'customer'),
    mode: need(fields, 'mode'),
    lines: lines.map((line) => ({
      price: need(line, 'price'),
      quantity: Number(textOf(line, 'quantity') ?? 0),
    })),
    successUrl: need(fields, 'success_url'),
    cancelUrl: textOf(fields, 'cancel_url') ?? '',
    reference: textOf(fields, 'client_reference_id'),
    subscriptionMetadata: textsOf(fieldsOf(fields, 'subscription_data'), 'metadata'),
  });
}

function listSubscriptions(world: PaymentsWorld, fields: FormFields): object {
  const limit = limitOf(fields);
  const customer = textOf(fields, 'customer');
  if (customer !== null) found(world.state.customers[customer], 'customer', customer);
  const all = world.listSubscriptions(customer, textOf(fields, 'status'));
  const data = all.slice(0, limit);
  return { object: 'list', url: '/v1/subscriptions', has_more: all.length > data.length, data };
}

function listSessions(world: PaymentsWorld, fields: FormFields): object {
  const limit = limitOf(fields);
  const after = textOf(fields, 'starting_after');
  const customer = textOf(fields, 'customer');
  if (customer !== null) world.customer(customer);
  const all = world.listSessions(customer);
  const rest = after === null ? all : all.slice(all.findIndex(({ id }) => id === after) + 1);
  const status = textOf(fields, 'status');
  const found = rest.filter((each) => (status ?? each.status) === each.status);
  const data = found.slice(0, limit).map(showSession);
  return { object: 'list', url: '/v1/checkout/sessions', has_more: found.length > data.length, data };
}

function limitOf(fields: FormFields): number {
  const limit = Number(textOf(fields, 'limit') ?? 10);
  if (limit >= 1 && limit <= 100) return limit;
  throw new ProviderError(400, 'invalid_request_error', 'parameter_invalid_integer', 'Invalid limit.');
}

function cancelSubscription(world: PaymentsWorld, id: string): object {
  if (world.subscription(id).status === 'canceled') {
    throw new ProviderError(
      404,
      'invalid_request_error',
      'resource_missing',
      `No such subscription: '${id}'`,
    );
  }
  return world.cancel(id);
}

function changeSubscription(world: PaymentsWorld, id: string, fields: FormFields): object {
  const behaviour = textOf(fields, 'payment_behavior') ?? 'allow_incomplete';
  if (behaviour !== 'error_if_incomplete') {
    throw new ProviderError(
      400,
      'invalid_request_error',
      'parameter_unknown',
      'Only error_if_incomplete here.',
    );
  }
  // What the provider does where none is named.
  const named = textOf(fields, 'proration_behavior') ?? 'create_prorations';
  const proration = PRORATIONS.find((each) => each === named);
  if (proration === undefined) {
    const words = `Only ${PRORATIONS.join(' and ')} here.`;
    throw new ProviderError(400, 'invalid_request_error', 'parameter_unknown', words);
  }
  const changes = listOf(fields, 'items').map((item) => ({
    id: need(item, 'id'),
    price: need(item, 'price'),
  }));
  return world.changeItems(id, changes, textsOf(fields, 'metadata'), proration);
}

function showCustomer({ card: _card, ...shown }: Customer): object {
  return shown.deleted === true ? { id: shown.id, object: 'customer', deleted: true } : shown;
}

function showSession({ lines: _lines, subscriptionMetadata: _metadata, ...shown }: CheckoutSession): object {
  return shown;
}
