import { afterEach, expect, it } from '@jest/globals';
import { setServerTime, serverNow } from '../web/data/time.ts';
import { timeAgo, timeUntil } from '../web/messages/index.ts';

const minute = 60_000;
/** Records a response that took 20 ms, from a service whose clock is ahead of the browser's. */
function hearServiceAhead(millis: number): void {
  const asked = Date.now();
  setServerTime(new Date(asked + 10 + millis).toISOString(), asked, asked + 20);
}
afterEach(() => hearServiceAhead(0));

it('says of nothing that has happened that it lies ahead', () => {
  const now = Date.parse('2026-03-02T09:00:00.000Z');
  expect(timeAgo('2026-03-02T09:00:03.400Z', now)).toBe('now');
  expect(timeAgo('2026-03-02T10:00:00.000Z', now)).toBe('now');
  expect(timeAgo('2026-03-02T08:55:00.000Z', now)).toBe('5 min. ago');
});

it('says of what is to end how far that is, and that it has ended', () => {
  const now = Date.parse('2026-03-02T09:00:00.000Z');
  expect(timeUntil('2026-03-07T09:00:00.000Z', now)).toBe('in 5 days');
  expect(timeUntil('2026-03-01T09:00:00.000Z', now)).toBe('yesterday');
});

it.each([-7 * minute, 7 * minute])('goes by the clock of the service where that is %i ms ahead', (ahead) => {
  hearServiceAhead(ahead);
  const happened = new Date(Date.now() + ahead - 5 * minute).toISOString();
  expect(timeAgo(happened)).toBe('5 min. ago');
});

it('takes what a call takes on its way for no difference of clocks', () => {
  const asked = Date.now();
  setServerTime(new Date(asked + 9_000).toISOString(), asked, asked + 10_000);
  expect(Math.abs(serverNow() - Date.now())).toBeLessThan(1_000);
});
