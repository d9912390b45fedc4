/**
 * Turns failures into tool results: the API's error object with a hint, as text and as structured content.
 */
import { MusterError, NoAnswer } from '@muster/client';
import { ApiError, type ErrorBody, unavailable } from '@muster/registry';
import { type CallToolResult } from '@modelcontextprotocol/server';
import { type AnswerBody } from './answers.ts';
import { hintOf } from './hints.ts';
import { HalfDone, Heard } from '../tools/macro.ts';

const away = (): ApiError =>
  unavailable('api_away', 'The API did not answer, so the call may have succeeded. Repeating it is safe.');

const causeOf = (failure: unknown): unknown =>
  failure instanceof Heard || failure instanceof HalfDone ? causeOf(failure.failure) : failure;

/** Converts a failure of a call into an error object; undefined for an unexpected fault of the gateway. */
export function errorBodyOf(thrown: unknown, requestId: string): ErrorBody | undefined {
  const failure = causeOf(thrown);
  if (failure instanceof MusterError) return failure.body;
  if (failure instanceof NoAnswer) return away().toBody(requestId);
  if (failure instanceof ApiError) return failure.toBody(requestId);
  return undefined;
}

/** Returns true if the API rejected the token. */
export function isUnauthorized(thrown: unknown): boolean {
  const failure = causeOf(thrown);
  return failure instanceof MusterError && failure.code === 'unauthorized';
}

/**
 * Returns the facts that the caller needs in addition to the error: signals, and the completed steps of a
 * macro.
 */
function besideOf(failure: unknown): AnswerBody {
  if (failure instanceof Heard) return { ...besideOf(failure.failure), signals: failure.signals };
  return failure instanceof HalfDone ? { step: failure.step, done: failure.done } : {};
}

export function failureResult(error: ErrorBody, failure: unknown): CallToolResult {
  const told = { error: { ...error, hint: hintOf(error) }, ...besideOf(failure) };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told };
}
