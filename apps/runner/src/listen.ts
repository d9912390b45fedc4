/**
 * Passes on what others do to the work of a run as it happens, to a file for the agent and to the runner
 * itself.
 */
import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, followEvents, type HeldLease, MusterError } from '@muster/client';
import { type Signal } from '@muster/contract';
import { z } from 'zod';
import { type StoryNews, type RunSignals } from './session.ts';

const signalMessages: Readonly<Record<Signal['kind'], string>> = {
  stop_requested: 'Someone asked you to stop.',
  spec_changed: 'The spec has changed: read it again.',
  story_changed: 'The story has changed: read it again.',
  new_comments: 'There is a new comment.',
  question_answered: 'Your question was answered.',
  review_verdict: 'A reviewer gave a verdict.',
  lock_conflict: 'Someone else is working on files that you changed.',
  forge: 'The forge reported news about the branch or pull request.',
};

/** Signals after which the agent's first prompt is outdated. */
const contextChangingKinds = new Set<Signal['kind']>(['spec_changed', 'story_changed', 'review_verdict']);

const AttributedText = z.object({ body: z.string(), author: z.object({ name: z.string() }) });
/** The data of a signal that a question was answered. */
const AnsweredQuestionData = z.object({ commentId: z.string(), answer: AttributedText.nullish() });

/** Describes a signal in one line. If the signal has a person's message, the line includes it. */
function describeSignal({ kind, data }: Signal): string {
  const said = AttributedText.safeParse(kind === 'question_answered' ? data['answer'] : data).data;
  return said === undefined
    ? signalMessages[kind]
    : `${signalMessages[kind]} ${said.author.name}: ${said.body}`;
}

export interface SignalInbox extends RunSignals {
  readonly receiveSignal: (signal: Signal) => void;
}

/** Opens the list of signals of a run. Each signal is also appended to the file as one line of JSON. */
export function openSignalInbox(file: string): SignalInbox {
  const stop = new AbortController();
  let news: StoryNews[] = [];
  const asked = new Map<string, (answer: string) => void>();
  let writing: Promise<void> = Promise.resolve();
  return {
    stopRequested: stop.signal,
    takeNews: () => {
      const told = new Map(news.map((one) => [one.line, one]));
      news = [];
      return [...told.values()];
    },
    awaitAnswer: (questionId) =>
      new Promise((resolve) => {
        asked.set(questionId, resolve);
      }),
    receiveSignal: (signal) => {
      const { kind, seq, at, data } = signal;
      const answered = kind === 'question_answered' ? AnsweredQuestionData.safeParse(data).data : undefined;
      const waiting = asked.get(answered?.commentId ?? '');
      if (waiting !== undefined) waiting(answered?.answer?.body ?? '');
      else if (!asked.has(String(data['parentId'])))
        news.push({ line: describeSignal(signal), changesContext: contextChangingKinds.has(kind) });
      writing = writing
        .then(() =>
          appendFile(file, `${JSON.stringify({ kind, seq, at, data, message: signalMessages[kind] })}\n`),
        )
        .catch(() => undefined);
      if (kind === 'stop_requested') stop.abort(signal);
    },
  };
}

const retryDelayMillis = 1_000;

/**
 * Renews the lease after each event of the execution, because the response contains the new signals. Ends
 * when the run ends.
 */
export async function renewLeaseOnEvents(
  client: Client,
  lease: HeldLease,
  endSignal: AbortSignal,
): Promise<void> {
  let afterSeq = lease.execution().lastEventSeq;
  while (!endSignal.aborted && !lease.isOver()) {
    try {
      for await (const event of followEvents(client, lease.executionId, { afterSeq, signal: endSignal })) {
        afterSeq = event.seq;
        if (lease.isOver()) return;
        await lease.renew();
      }
    } catch (error) {
      // The API did not answer, the token expired, or the lease is lost. A renewal finds out whether the
      // lease is lost.
      if (error instanceof MusterError) await lease.renew().catch(() => undefined);
      await pause(retryDelayMillis, undefined, { signal: endSignal }).catch(() => undefined);
    }
  }
}
