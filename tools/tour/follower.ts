import { setTimeout as pause } from 'node:timers/promises';
import { type ActivityItem } from '@muster/registry';
import { type Teammate } from './team.ts';
import { from } from './pages.ts';

const pageSize = 20;
const restMillis = 150;

/** Reads what is new in the activity, again and again, as a client that shows it does. */
export interface Follower {
  /** Looks a last time and answers all that was seen, newest first. */
  finish(): Promise<ActivityItem[]>;
}

export function followActivity({ api }: Teammate): Follower {
  let followed: ActivityItem[] = [];
  const until = new AbortController();
  const look = async (): Promise<void> => {
    const last = followed[0]?.id;
    const fresh: ActivityItem[] = [];
    let cursor: string | undefined;
    for (;;) {
      const page = await api.activity.list({ limit: pageSize, ...from(cursor) });
      const known = page.items.findIndex(({ id }) => id === last);
      fresh.push(...(known === -1 ? page.items : page.items.slice(0, known)));
      if (known !== -1 || page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    followed = [...fresh, ...followed];
  };
  const running = (async () => {
    while (!until.signal.aborted) {
      await look();
      await pause(restMillis);
    }
  })();
  // Its failure is met at the end, where it is waited for.
  running.catch(() => undefined);
  return {
    finish: async () => {
      until.abort();
      await running;
      await look();
      return followed;
    },
  };
}
