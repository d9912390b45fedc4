/** The command `muster hook`, which coding agents run at points of their work. */
import { text } from 'node:stream/consumers';
import { type Client, createClient, httpTransport } from '@muster/client';
import { exitCodes, sanitizeForTerminal, sanitizeToOneLine } from '@muster/terminal';
import { type Command } from 'commander';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { type HookDecision, toClientAnswer } from './answers.ts';
import { parseHookInput } from './input.ts';
import { type ChangeKind, checkLocks, editedPathsOf } from './locks.ts';
import { gitHookName, type HookName, hookNames, isHookName } from './names.ts';
import { readRemoteUrls } from './repository.ts';
import { listStagedFiles } from './staged.ts';
import { describeHoldings, describeWork } from './work.ts';

interface HookFlags extends ConnectionFlags {
  readonly project?: string;
  readonly strict?: boolean;
  readonly matchRepository?: boolean;
  readonly timeLimit?: string;
}

/** The time that Muster has for its answer. A client waits for the hook, so it must be short. */
const defaultTimeLimitMs = 500;
/** A commit may have many files, and a person waits for it less often. */
const commitTimeLimitMs = 5_000;

export function configureHookCommand(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Runs a hook of a coding agent, as muster setup configures it. Reads the JSON of the client from standard input and prints the answer. Exits with 0, because clients treat other exit codes as a refusal; only pre-commit, for git, exits with 1 to refuse.',
      )
      .argument('<hook>', `one of ${[...hookNames, gitHookName].join(', ')}`)
      .argument('[client]', 'the client whose form the answer has', 'claude')
      .option('--project <key>', 'the project whose locks are checked')
      .option('--strict', 'refuse edits when the lock cannot be checked')
      .option('--match-repository', "check edits only in clones of the project's repository")
      .option('--time-limit <ms>', `the time limit for Muster's answer, by default ${defaultTimeLimitMs}`)
      // A repository may have hooks of a newer release with more options.
      .allowUnknownOption()
      .allowExcessArguments(),
  ).action(runHook);
}

/** Returns the time limit in milliseconds. A limit that is not a number is ignored. */
const limitOf = ({ timeLimit }: HookFlags, defaultMs: number): number => Number(timeLimit) || defaultMs;

/** Rejects when the time limit is reached. */
const rejectAfter = (limitMs: number): Promise<never> =>
  new Promise((_resolve, reject) => {
    setTimeout(() => {
      reject(new Error(`no answer within ${limitMs} ms`));
    }, limitMs);
  });

async function connect(flags: HookFlags): Promise<Client> {
  return createClient(httpTransport(await findConnection(flags)));
}

const reasonOf = (error: unknown): string =>
  sanitizeToOneLine(error instanceof Error ? error.message : String(error)).slice(0, 300);

/** Returns the decision about a change when Muster could not answer. */
const decideUnchecked = (change: ChangeKind, error: unknown, { strict }: HookFlags): HookDecision =>
  strict === true
    ? {
        kind: 'refuse',
        text: `Muster refused this ${change}: the lock could not be checked (${reasonOf(error)}), and the hook is strict. Try again later.`,
      }
    : {
        kind: 'warn',
        text: `Muster did not check the lock, the ${change} is allowed: ${reasonOf(error)}`,
      };

/** Returns the decision of a client's hook when Muster could not answer. */
function decideWithoutAnswer(hook: HookName, error: unknown, flags: HookFlags): HookDecision {
  if (hook === 'before-edit') return decideUnchecked('edit', error, flags);
  if (hook === 'stop') return { kind: 'continue' };
  return { kind: 'warn', text: `Muster did not answer: ${reasonOf(error)}` };
}

/** Checks the files of a commit, and prints a refusal or a warning for the person. */
async function runPreCommit(flags: HookFlags): Promise<void> {
  const checked = async (): Promise<HookDecision> => {
    const files = await listStagedFiles();
    if (files.length === 0) return { kind: 'continue' };
    const options = { project: flags.project, change: 'commit' } as const;
    return Promise.race([
      checkLocks(await connect(flags), files, options),
      rejectAfter(limitOf(flags, commitTimeLimitMs)),
    ]);
  };
  const decision = await checked().catch((error: unknown) => decideUnchecked('commit', error, flags));
  const text = decision.kind === 'continue' ? '' : `muster: ${sanitizeForTerminal(decision.text)}\n`;
  const hint = decision.kind === 'refuse' ? 'To commit anyway: git commit --no-verify\n' : '';
  const exitCode = decision.kind === 'refuse' ? exitCodes.failed : 0;
  process.stderr.write(text + hint, () => process.exit(exitCode));
}

/**
 * Returns true if `muster work` started the client. The runner holds the lease and submits the work, so the
 * agent must neither take the work back nor end it.
 */
const isStartedByRunner = (): boolean => (process.env['MUSTER_RUN_ID'] ?? '') !== '';

async function decide(hook: HookName, flags: HookFlags): Promise<HookDecision> {
  const input = parseHookInput(process.stdin.isTTY ? '' : await text(process.stdin));
  if (hook === 'before-edit') {
    const files = await editedPathsOf(input);
    if (files.length === 0) return { kind: 'continue' };
    const remoteUrls = flags.matchRepository === true ? await readRemoteUrls(input.folder) : undefined;
    const options = { project: flags.project, change: 'edit', remoteUrls } as const;
    return checkLocks(await connect(flags), files, options);
  }
  if (isStartedByRunner()) return { kind: 'continue' };
  if (hook !== 'stop') return describeWork(await connect(flags));
  return input.isStopAnswered ? { kind: 'continue' } : describeHoldings(await connect(flags));
}

async function runHook(name: string, client: string, flags: HookFlags): Promise<void> {
  if (name === gitHookName) {
    await runPreCommit(flags);
    return;
  }
  const answer = isHookName(name) ? toClientAnswer(client, name, await answerHook(name, flags)) : {};
  // Open connections would keep the process alive after the time limit.
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
}

async function answerHook(name: HookName, flags: HookFlags): Promise<HookDecision> {
  try {
    return await Promise.race([decide(name, flags), rejectAfter(limitOf(flags, defaultTimeLimitMs))]);
  } catch (error) {
    return decideWithoutAnswer(name, error, flags);
  }
}
