/**
 * Turns failures into tool results: the API's error object with a hint, as text and as structured content.
 */
import { MusterError, NoAnswer } from '@muster/client';
import { ApiError, type ErrorBody, serviceUnavailable } from '@muster/contract';
import { type CallToolResult } from '@modelcontextprotocol/server';
import { type AnswerBody } from './answers.ts';
import { hintOf } from './hints.ts';
import { PartialFailure, FailureWithSignals } from '../tools/macro.ts';

const apiUnavailable = (): ApiError =>
  serviceUnavailable(
    'api_away',
    'The API did not answer, so the call may have succeeded. Repeating it is safe.',
  );

const rootFailureOf = (failure: unknown): unknown =>
  failure instanceof FailureWithSignals || failure instanceof PartialFailure
    ? rootFailureOf(failure.failure)
    : failure;

/** Converts a failure of a call into an error object; undefined for an unexpected fault of the gateway. */
export function errorBodyOf(thrown: unknown, requestId: string): ErrorBody | undefined {
  const failure = rootFailureOf(thrown);
  if (failure instanceof MusterError) return failure.body;
  if (failure instanceof NoAnswer) return apiUnavailable().toBody(requestId);
  if (failure instanceof ApiError) return failure.toBody(requestId);
  return undefined;
}

/** Returns true if the API rejected the token. */
export function isUnauthorized(thrown: unknown): boolean {
  const failure = rootFailureOf(thrown);
  return failure instanceof MusterError && failure.code === 'unauthorized';
}

/**
 * Returns the facts that the caller needs in addition to the error: signals, and the completed steps of a
 * macro.
 */
function extraFactsOf(failure: unknown): AnswerBody {
  if (failure instanceof FailureWithSignals)
    return { ...extraFactsOf(failure.failure), signals: failure.signals };
  return failure instanceof PartialFailure ? { step: failure.step, done: failure.done } : {};
}

export function failureResult(error: ErrorBody, failure: unknown): CallToolResult {
  const told = { error: { ...error, hint: hintOf(error) }, ...extraFactsOf(failure) };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told };
}
