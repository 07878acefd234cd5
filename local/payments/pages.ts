import type { CheckoutSession, PortalSession, Subscription } from './model.ts';
import { CARDS, type PaymentsWorld } from './world.ts';

const STYLE =
  'body{font:16px/1.5 system-ui;max-width:34rem;margin:3rem auto;padding:0 1rem;color:#1a1a1a}' +
  'fieldset{border:1px solid #bbb;border-radius:6px;margin:1rem 0;padding:1rem}' +
  'button{font:inherit;padding:.5rem 1rem;margin:.25rem .5rem .25rem 0}input{font:inherit;padding:.4rem;width:16rem}' +
  '.note{color:#555}.error{color:#a00;font-weight:600}';

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(title)}</h1><p class="note">A stand-in for the payment provider on this machine. No money moves.</p>${body}</html>`;
}

function money(cents: number): string {
  return `€ ${(cents / 100).toFixed(2)}`;
}

function cardField(): string {
  return (
    `<label>Card number<br><input name="card" value="${CARDS.good}" inputmode="numeric"></label>` +
    `<p class="note">${CARDS.declined} is declined; ${CARDS.failsLater} works now and fails at every later charge.</p>`
  );
}

export function checkoutPage(world: PaymentsWorld, session: CheckoutSession, declined: boolean): string {
  const lines = session.lines.map(({ price, quantity }) => {
    const { nickname, unit_amount } = world.price(price);
    const amount = quantity === 0 ? 'by usage' : `${money(unit_amount * quantity)} a month`;
    return `<li>${escapeHtml(nickname)}: ${amount}</li>`;
  });
  const error = declined ? '<p class="error" role="alert">Your card was declined.</p>' : '';
  return page(
    'Checkout',
    `<ul>${lines.join('')}</ul>${error}<form method="post">${cardField()}<button name="act" value="pay">Pay and subscribe</button><button name="act" value="back">Back</button></form>`,
  );
}

export function portalPage(world: PaymentsWorld, portal: PortalSession, message: string): string {
  const subscriptions = world.listSubscriptions(portal.customer, null);
  const shown = subscriptions.map((each) => subscriptionForm(each));
  return page(
    'Your plan',
    `${message === '' ? '' : `<p role="status">${escapeHtml(message)}</p>`}${shown.join('') || '<p>No subscription.</p>'}<form method="post"><fieldset><legend>Payment method</legend>${cardField()}<button name="act" value="card">Use this card</button></fieldset></form><p><a href="${escapeHtml(portal.return_url)}">Back to Mergeyard</a></p>`,
  );
}

function subscriptionForm(subscription: Subscription): string {
  const { id, status, items, cancel_at_period_end: ends } = subscription;
  const names = items.data.map((item) => escapeHtml(item.price.nickname)).join(', ');
  const button = (act: string, label: string): string =>
    `<button name="act" value="${act}">${label}</button>`;
  return `<form method="post"><fieldset><legend>${names}</legend><p>Status: <strong>${escapeHtml(status)}</strong>${ends ? ', ends with this period' : ''}</p><input type="hidden" name="subscription" value="${escapeHtml(id)}">${button('cancel', 'Cancel now')}${ends ? button('keep', 'Keep it') : button('end', 'Cancel at the end of the period')}${status === 'past_due' ? button('pay', 'Pay the open invoice') : ''}${button('renew', 'Let the next invoice fall due')}</fieldset></form>`;
}
