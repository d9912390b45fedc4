/** How the runner has to do with an agent, whatever that speaks. */
import { type Execution } from '@muster/registry';
import { type Group } from './group.ts';

/** An agent that has done what it was told, or cannot. */
export interface Over {
  /** Why what it did does not count; undefined where it ended well. */
  readonly trouble?: string;
  /** Of what kind that is; the agent's own fault unless it is said. */
  readonly failure?: 'infra' | 'context_exhausted';
  /** What it said last. */
  readonly summary?: string;
  /** A signal that the runner did not send ended its process. */
  readonly isKilled?: boolean;
  /** It never came to be told anything. */
  readonly isUnstarted?: boolean;
}

/** What an agent is told at its start. */
export interface Told {
  /** All of it. */
  readonly prompt: string;
  /** What is new since the agent was last told. */
  readonly note: string;
  /** An agent that remembers what it was told needs the note alone. */
  readonly isNoteEnough: boolean;
}

export interface Driver {
  readonly over: Promise<Over>;
  /** It waits for people: then it is not idle. */
  readonly isWaiting: () => boolean;
  /** Asks it to leave off; returns when it has, or when it was given its time. */
  leaveOff(): Promise<void>;
  /** Between being asked to end and being ended, as a process. */
  readonly graceMillis: number;
}

/** The part of a lease that says how the work stands. */
interface HeldWork {
  readonly execution: () => Pick<Execution, 'state'>;
}

/** The agent's own question waits for an answer. */
export const isQuestionOpen = (lease: HeldWork): boolean => lease.execution().state === 'waiting_input';

/** True if a signal ended the agent, or a command in its shell: the shell then exits with 128 plus the signal's number. */
export const wasKilled = (code: number | null): boolean => code === null || (code > 128 && code <= 128 + 64);

/** A command was told all by its start, and ends by itself. */
export const driveCommand = (group: Group, lease: HeldWork): Driver => ({
  over: group.exited.then(({ code }) =>
    code === 0 ? {} : { trouble: `The agent ended with ${code ?? 'a signal'}.`, isKilled: wasKilled(code) },
  ),
  isWaiting: () => isQuestionOpen(lease),
  leaveOff: () => Promise.resolve(),
  graceMillis: 12_000,
});
