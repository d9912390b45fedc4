/** What went wrong, as a model is told: the API's error object with a hint, as text and as structure alike. */
import { MusterError, NoAnswer } from '@muster/client';
import { ApiError, type ErrorBody, unavailable } from '@muster/registry';
import { type CallToolResult } from '@modelcontextprotocol/server';
import { type Answer } from './answers.ts';
import { hintOf } from './hints.ts';
import { HalfDone } from './macro.ts';
import { type JsonSchema, withoutNull } from './schemas.ts';
import { type AnyTool } from './toolbox.ts';

const away = (): ApiError =>
  unavailable(
    'api_away',
    'The API did not answer. What was asked for may have been done; repeating is safe.',
  );

/** The error object of anything that can go wrong in a call; undefined for a fault of ours. */
export function errorBodyOf(failure: unknown, requestId: string): ErrorBody | undefined {
  if (failure instanceof MusterError) return failure.body;
  if (failure instanceof NoAnswer) return away().toBody(requestId);
  if (failure instanceof ApiError) return failure.toBody(requestId);
  if (failure instanceof HalfDone) return errorBodyOf(failure.failure, requestId);
  return undefined;
}

const isRef = ({ format, 'x-muster-ref': ref }: JsonSchema): boolean =>
  format === 'uuid' || ref !== undefined;

/** The same with the parameter that names nothing; with all that may, where the call has several. */
export function withPath(error: ErrorBody, tool: AnyTool, args: Answer): ErrorBody {
  const { code, details } = error;
  if (code !== 'not_found' || details?.['path'] !== undefined || tool.kind !== 'operation') return error;
  const refs = Object.keys(args).filter((name) => isRef(withoutNull(tool.stated.properties[name] ?? {})));
  const [path] = refs;
  if (path === undefined) return error;
  return { ...error, details: { ...details, ...(refs.length > 1 ? { paths: refs } : { path }) } };
}

/** The token was refused by the API itself. */
export const isUnauthorized = (failure: unknown): boolean =>
  failure instanceof HalfDone
    ? isUnauthorized(failure.failure)
    : failure instanceof MusterError && failure.code === 'unauthorized';

export function failureResult(error: ErrorBody, failure: unknown): CallToolResult {
  const told = {
    error: { ...error, hint: hintOf(error) },
    ...(failure instanceof HalfDone && { step: failure.step, done: failure.done }),
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told };
}
