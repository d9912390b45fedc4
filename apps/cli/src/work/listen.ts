/** What others do to the work of a run, as it happens: into a file for the agent, and to the runner itself. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, followEvents, type HeldLease } from '@muster/client';
import { type Signal } from '@muster/registry';
import { type Signals } from './session.ts';

const says: Readonly<Record<Signal['kind'], string>> = {
  stop_requested: 'You are asked to stop.',
  spec_changed: 'The spec changed: read it again.',
  story_changed: 'The story changed: read it again.',
  new_comments: 'There are new comments.',
  question_answered: 'Your question is answered.',
  review_verdict: 'A reviewer decided.',
  lock_conflict: 'Another works on files that you touch.',
  forge: 'The forge has news of the branch or pull request.',
};

export interface HeardSignals extends Signals {
  readonly hear: (signal: Signal) => void;
}

/** Signals are lines of JSON in the file, oldest first. */
export function openSignals(file: string): HeardSignals {
  const stop = new AbortController();
  let news: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  return {
    stopRequested: stop.signal,
    take: () => {
      const told = [...new Set(news)];
      news = [];
      return told;
    },
    hear: (signal) => {
      news.push(says[signal.kind]);
      const { kind, seq, at, data } = signal;
      writing = writing
        .then(() => appendFile(file, `${JSON.stringify({ kind, seq, at, data, message: says[kind] })}\n`))
        .catch(() => undefined);
      if (kind === 'stop_requested') stop.abort(signal);
    },
  };
}

const pauseMillis = 1_000;

/** Asks for the signals as soon as something happens to the execution, until it is over. */
export async function listen(client: Client, lease: HeldLease, over: AbortSignal): Promise<void> {
  let afterSeq = lease.execution().lastEventSeq;
  while (!over.aborted && !lease.isOver()) {
    try {
      for await (const event of followEvents(client, lease.executionId, { afterSeq, signal: over })) {
        afterSeq = event.seq;
        if (lease.isOver()) return;
        await lease.renew();
      }
    } catch {
      // No answer, or the lease is lost, which the lease tells by itself.
      await pause(pauseMillis, undefined, { signal: over }).catch(() => undefined);
    }
  }
}
