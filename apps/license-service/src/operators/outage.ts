/** Recognizes outages of Postgres, so that operators can tell them from refusals. */

/** pg's messages, without a code, for a connection that failed, was lost or timed out. */
const noAnswerMessage =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Connection terminated)/;
const unreachableCode =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** SQLSTATEs of a Postgres that shuts down, has no free resources or canceled a wait. */
const unavailableSqlState = /^(08|57P|53|25P)|^(40001|40P01|55P03|57014)$/;
const loginRejectedSqlState = /^28|^3D000$/;

const stringPropertyOf = (error: object, name: string): string => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : '';
};

/** Returns why Postgres did not answer, as the start of a sentence; undefined for all other errors. */
export function outageOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code = stringPropertyOf(error, 'code');
  if (code === 'ECONNREFUSED') return 'no PostgreSQL server answers at DATABASE_URL';
  if (unreachableCode.test(code)) return 'PostgreSQL cannot be reached, or the connection was lost';
  if (code === '' && noAnswerMessage.test(stringPropertyOf(error, 'message')))
    return 'PostgreSQL does not answer, or the connection was lost';
  if (unavailableSqlState.test(code)) return 'PostgreSQL is shutting down, full, or overloaded';
  if (loginRejectedSqlState.test(code)) return 'PostgreSQL rejected the login in DATABASE_URL';
  return outageOf(Reflect.get(error, 'cause'));
}
