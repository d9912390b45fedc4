import { Check } from '../../check.ts';
import { answerTo, type EightStep, emailOf, expectNotice, firstSeats, person } from './eight.ts';
import { joinByMail } from './mailbox.ts';

const boughtSeats = firstSeats + 2;

/** No seat is left for the last member until the owner sees the price and buys more. */
export const seats: EightStep = {
  name: 'Seats run out and are bought',
  run: async (eight) => {
    const found = new Check('seats are limited to those bought, at the price of the preview');
    const { billing } = person(eight, 'Hanna').api;
    const { api } = person(eight, 'Ivo');
    const invite = () => api.members.invite({ email: emailOf(eight, 'Nia') });
    found.same(await answerTo(invite()), '422 seats_exhausted', 'an invitation without a free seat');
    const byAdmin = api.billing.updateSeats({ seats: boughtSeats });
    found.same(await answerTo(byAdmin), '403 role', 'an admin who buys seats');

    const preview = await billing.updateSeats({ seats: boughtSeats, preview: true });
    found.same(preview.subscription.seats, firstSeats, 'the number of seats after a preview');
    const expectedVersion = preview.subscription.version;
    const { proration } = await billing.updateSeats({ seats: boughtSeats, expectedVersion });
    found.same(proration, preview.proration, 'the charge, compared with the preview');
    await invite();
    await joinByMail(eight, 'Nia');
    expectNotice(eight, 'invitation_accepted', 'Ivo');
    const { usage } = await billing.seatUsage();
    const { purchased, used, pending } = usage;
    found.same({ purchased, used, pending }, { purchased: boughtSeats, used: 7, pending: 0 }, 'the seats');
    found.detail = `${firstSeats} seats, then ${boughtSeats}`;
    eight.checks.push(found);
    const price = `${(proration.amount / 100).toFixed(2)} ${proration.currency}`;
    return `${boughtSeats - firstSeats} more for ${price}, and Nia came in`;
  },
};
