/** The interface between the runner and an agent, independent of the agent's protocol. */
import { type Execution } from '@muster/contract';
import { type ProcessGroup } from './group.ts';

/** The result of an agent that finished its work or failed. */
export interface AgentOutcome {
  /** The reason why the agent's work is rejected. Undefined if the agent ended well. */
  readonly trouble?: string;
  /** The kind of failure. If it is undefined, the failure is the agent's fault. */
  readonly failure?: 'infra' | 'context_exhausted';
  /** The last message of the agent. */
  readonly summary?: string;
  /** True if a signal ended the process and the runner did not send that signal. */
  readonly isKilled?: boolean;
  /** True if the agent ended before it received a prompt. */
  readonly isUnstarted?: boolean;
}

/** The text for an agent at its start. */
export interface AgentInstructions {
  /** The complete prompt. */
  readonly prompt: string;
  /** The name under which usage is reported if the agent does not name its model. */
  readonly model: string;
  /** The news since the previous start of the agent. */
  readonly note: string;
  /** True if the agent remembers its earlier conversation, so that the note is enough. */
  readonly isNoteEnough: boolean;
}

export interface Driver {
  readonly outcome: Promise<AgentOutcome>;
  /** Returns true while the agent waits for people. During that time the agent does not count as idle. */
  readonly isWaiting: () => boolean;
  /** Asks the agent to stop. Returns when it has stopped or the time limit has passed. */
  requestStop(): Promise<void>;
  /** The delay in milliseconds between asking the agent's process to end and killing it. */
  readonly graceMillis: number;
}

/** The part of a lease that has the state of the work. */
interface HeldWork {
  readonly execution: () => Pick<Execution, 'state'>;
}

/** Returns true while the agent's own question waits for an answer. */
export const isQuestionOpen = (lease: HeldWork): boolean => lease.execution().state === 'waiting_input';

/** True if a signal ended the agent, or a command in its shell: the shell then exits with 128 plus the signal's number. */
export const wasKilled = (code: number | null): boolean => code === null || (code > 128 && code <= 128 + 64);

/** Drives an agent that is a plain command. It gets the whole prompt at its start and ends by itself. */
export const createCommandDriver = (group: ProcessGroup, lease: HeldWork): Driver => ({
  outcome: group.exited.then(({ code }) =>
    code === 0 ? {} : { trouble: `The agent ended with ${code ?? 'a signal'}.`, isKilled: wasKilled(code) },
  ),
  isWaiting: () => isQuestionOpen(lease),
  requestStop: () => Promise.resolve(),
  graceMillis: 12_000,
});
