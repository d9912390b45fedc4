/** Recognizes outages of Postgres, so that operators can tell them from refusals. */

/** pg's messages, without a code, for a connection that failed, was lost or timed out. */
const silence =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Connection terminated)/;
const unreachable =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/** SQLSTATEs of a Postgres that shuts down, has no free resources or canceled a wait. */
const unwell = /^(08|57P|53|25P)|^(40001|40P01|55P03|57014)$/;
const notLetIn = /^28|^3D000$/;

const textOf = (error: object, name: string): string => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : '';
};

/** Returns why Postgres did not answer, as the start of a sentence; undefined for all other errors. */
export function outageOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code = textOf(error, 'code');
  if (code === 'ECONNREFUSED') return 'no PostgreSQL server answers at DATABASE_URL';
  if (unreachable.test(code)) return 'PostgreSQL cannot be reached, or the connection was lost';
  if (code === '' && silence.test(textOf(error, 'message'))) {
    return 'PostgreSQL does not answer, or the connection was lost';
  }
  if (unwell.test(code)) return 'PostgreSQL is shutting down, full, or overloaded';
  if (notLetIn.test(code)) return 'PostgreSQL rejected the login in DATABASE_URL';
  return outageOf(Reflect.get(error, 'cause'));
}
