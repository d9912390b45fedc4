/** The commands `operator` and `session`: grants and sessions of the support pages. */
import { minuteOf, table } from '@muster/terminal';
import {
  type PersonGrant,
  listGrants,
  makeGrant,
  peopleScopes,
  type PeopleScope,
  revokeGrant,
  whomOf,
} from '../operators/grants.ts';
import { listSessions, revokeAllSessions, revokeSession } from '../operators/sessions.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number, productIn, text, withProduct } from './command.ts';
import { positiveSpan } from './term.ts';
import { endOf } from './tokens.ts';

function scopesOf(given: string): PeopleScope[] {
  const named = given.split(',').map((one) => one.trim());
  const unknown = named.find((one) => !peopleScopes.some((scope) => scope === one));
  if (unknown !== undefined)
    throw new Refused(
      'scope',
      `the scopes of people are ${peopleScopes.join(' and ')}; ${unknown} is not valid`,
    );
  if (!named.includes('read')) throw new Refused('scope', 'the scope change needs read too: read,change');
  return peopleScopes.filter((scope) => named.includes(scope));
}

const shown = ({ claim, value }: PersonGrant): string => (claim === 'email' ? value : `${claim}=${value}`);

export const operatorGrant: LicenseCommand = {
  name: 'operator grant',
  description:
    'Give people who sign in at OPERATORS_ISSUER access to the support pages; replaces earlier access',
  shape: (it) =>
    withProduct(it)
      .argument(
        '<whom>',
        'an e-mail address such as ana@example.com, or a claim of the issuer: groups=support',
      )
      .requiredOption('--scope <scopes>', 'read, or read,change')
      .option(
        '--for <span>',
        'how long the access is valid, such as 365d; by default without end',
        positiveSpan,
      ),
  run: async ({ pool }, options, [given = '']) => {
    const scopes = scopesOf(text(options, 'scope') ?? '');
    const wanted = { ...whomOf(given), product: productIn(options), scopes, seconds: number(options, 'for') };
    const grant = await inTransaction(pool, (db) => makeGrant(db, wanted));
    return {
      json: { grant },
      lines: [
        `${shown(grant)} may ${scopes.join(' and ')} licenses of product ${grant.product} from the next sign-in on.`,
      ],
    };
  },
};

export const operatorList: LicenseCommand = {
  name: 'operator list',
  description: 'List who has access to the support pages',
  run: async ({ pool }) => {
    const items = await reading(pool, listGrants);
    return {
      json: { items },
      lines: table(
        ['ID', 'WHOM', 'PRODUCT', 'SCOPES', 'STATE', 'LAST SIGN-IN'],
        items.map((one) => [
          ...[one.id, shown(one), one.product, one.scopes.join(','), endOf(one), minuteOf(one.lastUsedAt)],
        ]),
      ),
    };
  },
};

export const operatorRevoke: LicenseCommand = {
  name: 'operator revoke',
  description: 'Revoke access; it ends with the next request',
  shape: (it) => it.argument('<id>', 'its id, as shown by operator list'),
  run: async ({ pool }, _options, [id = '']) => {
    const grant = await inTransaction(pool, (db) => revokeGrant(db, id));
    return {
      json: { grant },
      lines: [`${shown(grant)} no longer has this access to product ${grant.product}.`],
    };
  },
};

export const sessionList: LicenseCommand = {
  name: 'session list',
  description: 'List the sessions on the support pages',
  shape: (it) => it.option('--all', 'include sessions that ended in the last thirty days'),
  run: async ({ pool }, options) => {
    const items = await reading(pool, (db) => listSessions(db, options['all'] === true));
    return {
      json: { items },
      lines: table(
        ['ID', 'WHO', 'BY', 'FROM', 'SINCE', 'LAST SEEN', 'STATE'],
        items.map((one) => [
          ...[one.id, one.name, one.by, one.ip ?? '', minuteOf(one.createdAt), minuteOf(one.lastSeenAt)],
          one.isGood ? `until ${minuteOf(one.expiresAt)}` : 'over',
        ]),
      ),
    };
  },
};

export const sessionRevoke: LicenseCommand = {
  name: 'session revoke',
  description: 'Sign out one person or everyone from the support pages; takes effect with the next request',
  shape: (it) =>
    it.argument('[id]', 'its id, as shown by session list').option('--all', 'all active sessions'),
  run: async ({ pool }, options, [id]) => {
    const isAll = options['all'] === true;
    if (isAll === (id !== undefined)) throw new Refused('session', 'give the id of a session, or --all');
    if (id === undefined) {
      const ended = await inTransaction(pool, revokeAllSessions);
      return { json: { ended }, lines: [`Ended ${ended} sessions.`] };
    }
    const session = await inTransaction(pool, (db) => revokeSession(db, id));
    return { json: { session }, lines: [`${session.name} is signed out.`] };
  },
};
