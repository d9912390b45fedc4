/** Runs the command of an operation: its flags become a call, and the answer is printed. */
import { createClient, httpTransport, NoAnswer, retrying } from '@muster/client';
import { type Operation } from '@muster/contract';
import { terminalSafeJson, stdoutFormat, UsageError } from '@muster/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { reportError } from '../failures.ts';
import { isObject } from '../output/cells.ts';
import { summarizeWrite, formatResult } from '../output/show.ts';
import { type CommandConnection, findConnection } from '../session/connection.ts';
import { positionalPlaceholder, type Flag, flagName, positionalsOf } from '@muster/reference';
import { shortcuts } from './shortcuts.ts';
import { parseJsonArgument, collectTypedParams, parsePositionalParams, readTextArgument } from './typed.ts';

export interface OperationCommand {
  readonly operation: Operation;
  readonly flags: readonly Flag[];
  readonly command: Command;
  /** The arguments without a flag: all parameters as JSON, or the values of required parameters. */
  readonly positionalWords: readonly string[];
}

interface CallFlags {
  readonly params?: string;
  readonly all?: boolean;
  readonly json?: boolean;
  readonly idempotencyKey?: string;
}

/** Returns true if the word holds all parameters: JSON, a file with JSON, or stdin. */
const isWholeParams = (word: string): boolean => /^[{[@]|^-$/.test(word.trim());

function parseWholeParams(
  positionalSource: string | undefined,
  flagSource: string | undefined,
): Record<string, unknown> {
  if (positionalSource !== undefined && flagSource !== undefined)
    throw new UsageError('use either [params] or --params, not both');
  const source = positionalSource ?? flagSource;
  if (source === undefined) return {};
  try {
    const value = parseJsonArgument(readTextArgument(source));
    if (isObject(value)) return { ...value };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`parameters: ${error.message}`);
  }
  throw new UsageError('The parameters must be a JSON object.');
}

function throwIfParamsMissing(flags: readonly Flag[], params: Readonly<Record<string, unknown>>): void {
  const missing = flags.filter(({ required, path: [first = ''] }) => required && params[first] === undefined);
  if (missing.length === 0) return;
  const words = positionalsOf(flags);
  const ways = missing.map((flag) =>
    words.includes(flag)
      ? `<${positionalPlaceholder(flag).slice(1, -1)}> or --${flag.name}`
      : `--${flag.name}`,
  );
  throw new UsageError(`needs ${ways.join(', ')} (see --help)`);
}

/**
 * The time in seconds that a command retries before it reports that the API does not answer. A person may be
 * waiting for it.
 */
const defaultRetrySeconds = 3;

/** The retry time in seconds of long commands. It covers a restart of the API. */
export const longRetrySeconds = 60;

/**
 * Creates the transport to the API. Its retry time suits a person at a terminal unless the caller sets
 * another.
 */
export const createRetryingTransport = (
  connection: CommandConnection,
  {
    retryTimeoutSeconds: patienceSeconds = defaultRetrySeconds,
  }: { readonly retryTimeoutSeconds?: number } = {},
) => {
  const transport = retrying(httpTransport(connection), { forSeconds: patienceSeconds });
  return async (...call: Parameters<typeof transport>): Promise<unknown> => {
    try {
      return await transport(...call);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new NoAnswer(`${error.message} (retried for ${patienceSeconds} s)`, error);
    }
  };
};

/** Creates the typed client of a command. */
export const createCommandClient = (connection: CommandConnection) =>
  createClient(createRetryingTransport(connection));

/** Runs the operation and reports its outcome with the names that the command line uses. */
export async function runOperation(operationCommand: OperationCommand): Promise<void> {
  const { flags, command } = operationCommand;
  const { json = false } = command.opts<CallFlags>();
  await callAndShow(operationCommand).catch((error: unknown) => {
    reportError(error, { json, fieldNameOf: (field) => flagName(flags, field) });
  });
}

async function callAndShow({ operation, flags, command, positionalWords }: OperationCommand): Promise<void> {
  const options = command.opts<CallFlags>();
  const [first] = positionalWords;
  const atOnce =
    positionalWords.length === 1 && first !== undefined && isWholeParams(first) ? first : undefined;
  const named = atOnce === undefined ? parsePositionalParams(command, flags, positionalWords) : {};
  const typed = collectTypedParams(command, flags, { ...parseWholeParams(atOnce, options.params), ...named });
  const connection = () => findConnection(command.opts());
  const params =
    (await shortcuts
      .get(operation.name)
      ?.completeParams(typed, command.opts(), async () => createCommandClient(await connection()))) ?? typed;
  throwIfParamsMissing(flags, params);
  const transport = createRetryingTransport(await connection());
  const callOptions = options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey };
  const call = async (more: object = {}): Promise<Record<string, unknown>> => {
    const result = await transport(operation, { ...params, ...more }, callOptions);
    return isObject(result) ? { ...result } : { result };
  };

  const result = await call();
  if (options.all === true) {
    const items = Array.isArray(result['items']) ? [...(result['items'] as unknown[])] : [];
    while (typeof result['nextCursor'] === 'string') {
      const page = await call({ cursor: result['nextCursor'] });
      if (Array.isArray(page['items'])) items.push(...(page['items'] as unknown[]));
      result['nextCursor'] = page['nextCursor'];
    }
    result['items'] = items;
  }
  if (options.json === true) {
    process.stdout.write(`${terminalSafeJson(result)}\n`);
    return;
  }
  const sentence = summarizeWrite(operation.name, result);
  const lines = [...(sentence === undefined ? [] : [sentence, '']), ...formatResult(result, stdoutFormat())];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (typeof result['nextCursor'] === 'string')
    process.stderr.write(`There are more items: use --all, or --cursor ${result['nextCursor']}\n`);
}
