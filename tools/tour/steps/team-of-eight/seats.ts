import { Check } from '../../check.ts';
import { comesTo, type Eight, type EightStep, emailOf, firstSeats, person, tell } from './eight.ts';
import { accept, comeIn, secretFor } from './mailbox.ts';
import { checkUsage } from './usage.ts';

const bought = firstSeats + 3;

/** The seats run out, more are bought, the last of the eight comes in, and an invitation is taken back. */
export const seats: EightStep = {
  name: 'Seats run out and are bought',
  run: async (eight) => {
    const found = new Check('no more seats are given than were bought, and what they cost adds up');
    const { api } = person(eight, 'Ivo');
    const invite = () => api.members.invite({ email: emailOf(eight, 'Nia') });
    found.same(await comesTo(invite()), '422 seats_exhausted', 'an invitation without a free seat');
    const byAdmin = api.billing.updateSeats({ seats: bought });
    found.same(await comesTo(byAdmin), '403 role', 'an admin buying seats');
    const price = await buy(eight, found);

    await invite();
    await takeBack(eight, found);
    await comeIn(eight, 'Nia');
    tell(eight, 'invitation_accepted', 'Ivo');
    await checkUsage(eight, found, { purchased: bought, used: 7, pending: 0 });
    await giveBack(eight, found);
    found.detail = `${firstSeats} seats, then ${bought}, then ${bought - 1}`;
    eight.checks.push(found);
    return `${bought - firstSeats} more for ${price}; one came in, one invitation was revoked, one seat given back`;
  },
};

/** First it is asked what they would cost; then they are bought for exactly that. */
async function buy(eight: Eight, found: Check): Promise<string> {
  const { billing } = person(eight, 'Hanna').api;
  const { pricing } = await billing.seatPricing();
  const asked = await billing.updateSeats({ seats: bought, preview: true });
  found.same(asked.subscription.seats, firstSeats, 'the number of seats in a preview');
  const { amount, lines, currency } = asked.proration;
  const sum = lines.reduce((total, line) => total + line.amount, 0);
  found.same(sum, amount, 'the sum of the lines of a preview');
  found.that(amount > 0, () => `${bought - firstSeats} seats more would cost ${amount}`);
  found.same(currency, pricing.currency, 'the currency of a preview');
  await checkUsage(eight, found, { purchased: firstSeats, used: 6, pending: 0 });

  const expectedVersion = asked.subscription.version;
  const now = await billing.updateSeats({ seats: bought, expectedVersion });
  found.same([now.subscription.seats, now.usage.purchased], [bought, bought], 'the seats that were bought');
  found.same(now.proration, asked.proration, 'what was charged, compared with the preview');
  await checkUsage(eight, found, { purchased: bought, used: 6, pending: 0 });
  const late = billing.updateSeats({ seats: bought + 1, expectedVersion });
  found.same(await comesTo(late), '409 version_mismatch', 'buying on what was known before');
  return `${(amount / 100).toFixed(2)} ${currency}`;
}

/** An invitation to the wrong one is revoked: its seat is free, and its link leads nowhere. */
async function takeBack(eight: Eight, found: Check): Promise<void> {
  const { api } = person(eight, 'Ivo');
  const { invitation } = await api.members.invite({ email: emailOf(eight, 'Otto') });
  const secret = await secretFor(eight, 'Otto');
  await checkUsage(eight, found, { purchased: bought, used: 6, pending: 2 });
  const { invitation: revoked } = await api.invitations.revoke({ invitationId: invitation.id });
  found.same(revoked.state, 'revoked', 'the state of what was taken back');
  await checkUsage(eight, found, { purchased: bought, used: 6, pending: 1 });
  found.same((await accept(eight, secret, 'Otto')).is, '409 already_resolved', 'the link of a revoked one');
  const again = api.invitations.revoke({ invitationId: invitation.id });
  found.same(await comesTo(again), '409 already_resolved', 'revoking twice');
}

async function giveBack(eight: Eight, found: Check): Promise<void> {
  const { billing } = person(eight, 'Hanna').api;
  const tooFew = billing.updateSeats({ seats: firstSeats });
  found.same(await comesTo(tooFew), '422 seats_in_use', 'fewer seats than are held');
  const { proration } = await billing.updateSeats({ seats: bought - 1 });
  found.that(proration.amount < 0, () => `giving a seat back is charged with ${proration.amount}`);
  await checkUsage(eight, found, { purchased: bought - 1, used: 7, pending: 0 });
}
