/** What went wrong, as a model is told: the API's error object with a hint, as text and as structure alike. */
import { MusterError, NoAnswer } from '@muster/client';
import { ApiError, type ErrorBody, unavailable } from '@muster/registry';
import { type CallToolResult } from '@modelcontextprotocol/server';
import { hintOf } from './hints.ts';
import { HalfDone } from './macro.ts';

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
