/** Groups notifications about the same story, and computes the times until which they can be snoozed. */
import { type Notification } from '@muster/contract';

/** Notifications about the same story, or a single one. The newest comes first. */
export interface NotificationBundle {
  readonly id: string;
  readonly notifications: readonly [Notification, ...Notification[]];
}

/** Bundles notifications, newest first. A bundle is at the place of its newest notification. */
export function bundleByStory(notifications: readonly Notification[]): NotificationBundle[] {
  const bundles = new Map<string, [Notification, ...Notification[]]>();
  for (const notification of notifications) {
    const { id, subject } = notification;
    const key = subject?.type === 'story' ? subject.id : id;
    const bundle = bundles.get(key);
    if (bundle === undefined) bundles.set(key, [notification]);
    else bundle.push(notification);
  }
  return [...bundles].map(([id, all]) => ({ id, notifications: all }));
}

const hourMs = 60 * 60 * 1_000;
/** The hour of the day at which notifications come back that were snoozed for days. */
const morningHour = 9;

/** Returns the time in the morning of a later day, in the reader's time zone. */
function morningAfter(nowMs: number, days: number): Date {
  const time = new Date(nowMs);
  time.setDate(time.getDate() + days);
  time.setHours(morningHour, 0, 0, 0);
  return time;
}

export const snoozePeriods = ['hour', 'tomorrow', 'nextWeek'] as const;
export type SnoozePeriod = (typeof snoozePeriods)[number];

/** Returns the end of a period: an hour, the next morning, or the morning of the next Monday. */
export function snoozeEnd(period: SnoozePeriod, nowMs: number): Date {
  if (period === 'hour') return new Date(nowMs + hourMs);
  if (period === 'tomorrow') return morningAfter(nowMs, 1);
  const weekday = new Date(nowMs).getDay();
  return morningAfter(nowMs, (8 - weekday) % 7 || 7);
}
