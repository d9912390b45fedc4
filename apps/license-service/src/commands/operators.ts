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
    throw new Refused('scope', `people have ${peopleScopes.join(' and ')}, and no ${unknown}`);
  if (!named.includes('read')) throw new Refused('scope', 'who changes licenses reads them: read,change');
  return peopleScopes.filter((scope) => named.includes(scope));
}

const shown = ({ claim, value }: PersonGrant): string => (claim === 'email' ? value : `${claim}=${value}`);

export const operatorGrant: LicenseCommand = {
  name: 'operator grant',
  description:
    'Let people who sign in at OPERATORS_ISSUER work on the pages of support; in place of what they had',
  shape: (it) =>
    withProduct(it)
      .argument('<whom>', 'ana@example.com, or what the issuer says of people: groups=support')
      .requiredOption('--scope <scopes>', 'read, or read,change')
      .option('--for <span>', 'how long it counts: 365d; for good unless said', positiveSpan),
  run: async ({ pool }, options, [given = '']) => {
    const scopes = scopesOf(text(options, 'scope') ?? '');
    const wanted = { ...whomOf(given), product: productIn(options), scopes, seconds: number(options, 'for') };
    const grant = await inTransaction(pool, (db) => makeGrant(db, wanted));
    return {
      json: { grant },
      lines: [
        `${shown(grant)} may ${scopes.join(' and ')} licenses of product ${grant.product}, from the next sign-in on.`,
      ],
    };
  },
};

export const operatorList: LicenseCommand = {
  name: 'operator list',
  description: 'List who may work on the pages of support',
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
  description: 'Take it back: it counts for nothing from the next request on',
  shape: (it) => it.argument('<id>', 'which, as operator list shows it'),
  run: async ({ pool }, _options, [id = '']) => {
    const grant = await inTransaction(pool, (db) => revokeGrant(db, id));
    return {
      json: { grant },
      lines: [`${shown(grant)} may nothing more with product ${grant.product} by this.`],
    };
  },
};

export const sessionList: LicenseCommand = {
  name: 'session list',
  description: 'List who is signed in on the pages of support',
  shape: (it) => it.option('--all', 'also those of the last thirty days that are over'),
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
  description: 'Sign a person of support out, or all: a session counts for nothing from the next request on',
  shape: (it) =>
    it.argument('[id]', 'which, as session list shows it').option('--all', 'all sessions that last'),
  run: async ({ pool }, options, [id]) => {
    const isAll = options['all'] === true;
    if (isAll === (id !== undefined)) throw new Refused('session', 'say the id of a session, or --all');
    if (id === undefined) {
      const ended = await inTransaction(pool, revokeAllSessions);
      return { json: { ended }, lines: [`Ended ${ended} sessions.`] };
    }
    const session = await inTransaction(pool, (db) => revokeSession(db, id));
    return { json: { session }, lines: [`${session.name} is signed out there.`] };
  },
};
