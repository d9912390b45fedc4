/**
 * Stream events of the inbox for work: each item of agents.inbox, in order. An agent whose stream includes
 * its inbox counts as listening, as it does while a call of agents.inbox waits.
 */
import { maxPageSize } from '@muster/contract';
import { registry } from '@muster/registry';
import { type AuthenticatedToken, type WaitCondition } from '@muster/runtime';
import { type WaitForEvents } from './operationRoutes.ts';

/** Additional events of a stream, which concern only its caller. */
export interface StreamFeed {
  /** Returns a signal that aborts when there may be something to read. */
  readonly changeSignal: () => AbortSignal;
  /** Returns the new events in the wire format; empty if there are none. */
  readonly read: () => Promise<string>;
  readonly close: () => void;
}

/** Executes a read by its name, on behalf of the stream's caller. */
type ExecuteRead = (
  operation: string,
  params: Readonly<Record<string, unknown>>,
) => Promise<{ readonly json: string; readonly waitCondition: WaitCondition | null }>;

interface InboxPage {
  readonly items: readonly object[];
  readonly cursor: number;
}

const longPollSeconds = 25;

/** Opens the inbox for work of the stream's caller, from the item after this number on. */
export function openWorkInbox(
  executeRead: ExecuteRead,
  wait: WaitForEvents,
  identity: AuthenticatedToken['identity'],
  firstAfter: number,
): StreamFeed {
  const closing = new AbortController();
  let after = firstAfter;
  let news = AbortSignal.abort();

  return {
    changeSignal: () => news,
    read: async () => {
      if (!news.aborted) return '';
      const params = { after, limit: maxPageSize, waitSeconds: longPollSeconds };
      const { json, waitCondition } = await executeRead(registry.agents.inbox.name, params);
      const page = JSON.parse(json) as InboxPage;
      after = page.cursor;
      // Without a condition to wait for, the next page is read immediately.
      if (waitCondition !== null) {
        const next = new AbortController();
        news = next.signal;
        // This wait is separate from those of the stream, so that other events do not end the listening.
        void wait(identity, waitCondition, closing.signal).finally(() => next.abort());
      }
      return page.items.map((item) => `event: inbox.item\ndata: ${JSON.stringify(item)}\n\n`).join('');
    },
    close: () => closing.abort(),
  };
}
