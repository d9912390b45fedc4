/** The command `muster hook`, which coding agents run at points of their work. */
import { text } from 'node:stream/consumers';
import { type Client, createClient, httpTransport } from '@muster/client';
import { sanitizeToOneLine } from '@muster/terminal';
import { type Command } from 'commander';
import { addConnectionFlags, type ConnectionFlags, findConnection } from '../session/connection.ts';
import { type HookDecision, toClientAnswer } from './answers.ts';
import { type HookInput, parseHookInput } from './input.ts';
import { checkLocks, editedPathsOf } from './locks.ts';
import { type HookName, hookNames, isHookName } from './names.ts';
import { describeHoldings, describeWork } from './work.ts';

interface HookFlags extends ConnectionFlags {
  readonly project?: string;
  readonly strict?: boolean;
  readonly timeLimit?: string;
}

/** The time that Muster has for its answer. A client waits for the hook, so it must be short. */
const defaultTimeLimitMs = 500;

export function configureHookCommand(command: Command): void {
  addConnectionFlags(
    command
      .description(
        'Runs a hook of a coding agent, as muster setup configures it. Reads the JSON of the client from standard input and prints the answer. Always exits with 0, because clients treat other exit codes as a refusal.',
      )
      .argument('<hook>', `one of ${hookNames.join(', ')}`)
      .argument('[client]', 'the client whose form the answer has', 'claude')
      .option('--project <key>', 'the project whose locks are checked')
      .option('--strict', 'refuse edits when the lock cannot be checked')
      .option('--time-limit <ms>', `the time limit for Muster's answer, by default ${defaultTimeLimitMs}`)
      // A repository may have hooks of a newer release with more options.
      .allowUnknownOption()
      .allowExcessArguments(),
  ).action(runHook);
}

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

async function decide(
  hook: HookName,
  { isStopAnswered }: HookInput,
  files: readonly string[],
  flags: HookFlags,
): Promise<HookDecision> {
  if (hook === 'before-edit') return checkLocks(await connect(flags), files, flags.project);
  if (hook !== 'stop') return describeWork(await connect(flags));
  return isStopAnswered ? { kind: 'continue' } : describeHoldings(await connect(flags));
}

/** Returns the decision when Muster could not answer. */
function decideWithoutAnswer(hook: HookName, error: unknown, isStrict: boolean): HookDecision {
  const reason = sanitizeToOneLine(error instanceof Error ? error.message : String(error)).slice(0, 300);
  if (hook === 'before-edit') {
    return isStrict
      ? {
          kind: 'refuse',
          text: `Muster refused this edit: the lock could not be checked (${reason}), and the hook is strict. Try again later.`,
        }
      : { kind: 'warn', text: `Muster did not check the lock, the edit is allowed: ${reason}` };
  }
  if (hook === 'stop') return { kind: 'continue' };
  return { kind: 'warn', text: `Muster did not answer: ${reason}` };
}

async function runHook(name: string, client: string, flags: HookFlags): Promise<void> {
  const input = parseHookInput(process.stdin.isTTY ? '' : await text(process.stdin));
  const answer = isHookName(name) ? toClientAnswer(client, name, await answerHook(name, input, flags)) : {};
  // Open connections would keep the process alive after the time limit.
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
}

async function answerHook(name: HookName, input: HookInput, flags: HookFlags): Promise<HookDecision> {
  try {
    const files = name === 'before-edit' ? await editedPathsOf(input) : [];
    if (name === 'before-edit' && files.length === 0) return { kind: 'continue' };
    const limitMs = Number(flags.timeLimit ?? defaultTimeLimitMs);
    return await Promise.race([decide(name, input, files, flags), rejectAfter(limitMs)]);
  } catch (error) {
    return decideWithoutAnswer(name, error, flags.strict === true);
  }
}
