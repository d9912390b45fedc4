import { describe, expect, it } from '@jest/globals';
import { BadCursor, BurstError, DatabaseAway, DatabaseBusy, CommitOutcomeUnknown } from '@muster/driver';
import pg from 'pg';
import { refusal, toApiError, valuesMissedByValidation } from './index.ts';

/** Builds an error of the server whose message contains internal details. */
function createServerError(code: string, detail?: string): BurstError {
  const said = new pg.DatabaseError('relation "secrets" of select * from secrets', 20, 'error');
  said.code = code;
  said.detail = detail;
  return new BurstError(said, 1);
}

describe('toApiError', () => {
  it.each([
    ['organization 3 member', 'role', 'admin', 'member'],
    ['project 2 viewer', 'role', 'contributor', 'viewer'],
    ['read write', 'scope', 'platform', ['read', 'write']],
  ])('says of the 403 "%s" what is needed and what is held', (detail, reason, needed, held) => {
    expect(toApiError(createServerError('MU403', detail)).details).toEqual({
      reason,
      retryable: false,
      needed,
      held,
    });
  });

  it.each([
    ['MU401', 401, 'unauthorized'],
    ['MU403', 403, 'scope'],
    ['MU404', 404, 'not_found'],
    ['23505', 409, 'already_exists'],
    ['23503', 404, 'not_found'],
    ['23514', 422, 'limit_exceeded'],
    ['40001', 503, 'busy'],
    ['40P01', 503, 'busy'],
    ['55P03', 503, 'busy'],
    ['57014', 503, 'busy'],
    ['53300', 503, 'busy'],
    ['53000', 503, 'database'],
    ['53100', 503, 'database'],
    ['53200', 503, 'database'],
    ['53400', 503, 'database'],
    ['0A000', 503, 'busy'],
    ['26000', 503, 'busy'],
    ['57P01', 503, 'database'],
    ['57P03', 503, 'database'],
    ['08006', 503, 'database'],
    ['25P03', 503, 'database'],
    ['25006', 503, 'database'],
    ['XX000', 500, 'internal'],
    ['P0001', 500, 'internal'],
  ])('answers SQLSTATE %s with %i (%s), and nothing of the inside', (code, status, reason) => {
    const before = valuesMissedByValidation.count;
    const known = toApiError(createServerError(code));
    expect(known.status).toBe(status);
    expect(known.details.reason).toBe(reason);
    expect(JSON.stringify(known.toBody('r'))).not.toMatch(/secrets|relation|select/);
    if (status === 503) expect(known).toMatchObject({ retryAfter: 1, details: { retryable: true } });
    expect(valuesMissedByValidation.count).toBe(before);
  });

  it.each(['22P02', '22003', '22021', '42804', '54000'])(
    'counts SQLSTATE %s as a hole in validation',
    (code) => {
      const before = valuesMissedByValidation.count;
      expect(toApiError(createServerError(code))).toMatchObject({ status: 400 });
      expect(valuesMissedByValidation.count).toBe(before + 1);
      valuesMissedByValidation.count = before;
    },
  );

  it('tells a lost COMMIT from a lost connection and from none', () => {
    expect(toApiError(new CommitOutcomeUnknown(new Error('x'))).details).toMatchObject({
      reason: 'outcome_unknown',
      retryable: true,
    });
    expect(toApiError(new DatabaseAway(new Error('x'))).details).toMatchObject({
      reason: 'database',
      retryable: true,
    });
    expect(toApiError(new DatabaseBusy(new Error('x'))).details).toMatchObject({
      reason: 'overload',
      retryable: true,
    });
    expect(toApiError(new BurstError(new Error('ended'), 0)).details).toMatchObject({
      reason: 'database',
      retryable: true,
    });
  });

  it('leaves a refusal as it is, and calls everything else a fault', () => {
    const refused = refusal('archived');
    expect(toApiError(refused)).toBe(refused);
    expect(toApiError(new BadCursor())).toMatchObject({
      status: 400,
      details: { issues: [{ path: 'cursor' }] },
    });
    expect(toApiError(new BadCursor('after'))).toMatchObject({ details: { issues: [{ path: 'after' }] } });
    for (const fault of [new TypeError('secrets'), 'secrets', null, undefined]) {
      expect(toApiError(fault).toBody('r')).toEqual({
        code: 'internal',
        message: 'Something went wrong on the server.',
        status: 500,
        requestId: 'r',
        details: { reason: 'internal', retryable: false },
      });
    }
  });
});
