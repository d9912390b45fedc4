import { describe, expect, it } from '@jest/globals';
import { BadCursor, BurstError, DatabaseAway, OutcomeUnknown } from '@muster/database';
import pg from 'pg';
import { refusal, toApiError, validationHoles } from './index.ts';

/** As the server would say it, with something of the inside in the message. */
function ofServer(code: string): BurstError {
  const said = new pg.DatabaseError('relation "secrets" of select * from secrets', 20, 'error');
  said.code = code;
  return new BurstError(said, 1);
}

describe('toApiError', () => {
  it.each([
    ['MU401', 401, undefined],
    ['MU403', 403, 'role'],
    ['MU404', 404, undefined],
    ['23505', 409, 'already_exists'],
    ['23503', 404, undefined],
    ['23514', 422, 'limit_exceeded'],
    ['40001', 503, 'busy'],
    ['40P01', 503, 'busy'],
    ['55P03', 503, 'busy'],
    ['57014', 503, 'busy'],
    ['53300', 503, 'busy'],
    ['57P01', 503, 'database'],
    ['57P03', 503, 'database'],
    ['08006', 503, 'database'],
    ['25P03', 503, 'database'],
    ['XX000', 500, undefined],
    ['P0001', 500, undefined],
  ])('answers SQLSTATE %s with %i (%s), and nothing of the inside', (code, status, reason) => {
    const before = validationHoles.count;
    const known = toApiError(ofServer(code));
    expect(known.status).toBe(status);
    expect(known.details?.reason).toBe(reason);
    expect(JSON.stringify(known.toBody('r'))).not.toMatch(/secrets|relation|select/);
    if (status === 503) expect(known).toMatchObject({ retryAfter: 1, details: { retryable: true } });
    expect(validationHoles.count).toBe(before);
  });

  it.each(['22P02', '22003', '22021', '42804', '54000'])(
    'counts SQLSTATE %s as a hole in validation',
    (code) => {
      const before = validationHoles.count;
      expect(toApiError(ofServer(code))).toMatchObject({ status: 400 });
      expect(validationHoles.count).toBe(before + 1);
      validationHoles.count = before;
    },
  );

  it('tells a lost COMMIT from a lost connection and from none', () => {
    expect(toApiError(new OutcomeUnknown(new Error('x'))).details).toMatchObject({
      reason: 'outcome_unknown',
      retryable: true,
    });
    expect(toApiError(new DatabaseAway(new Error('x'))).details).toMatchObject({
      reason: 'database',
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
    for (const fault of [new TypeError('secrets'), 'secrets', null, undefined]) {
      expect(toApiError(fault).toBody('r')).toEqual({
        code: 'internal',
        message: 'Something went wrong on our side.',
        status: 500,
        requestId: 'r',
      });
    }
  });
});
