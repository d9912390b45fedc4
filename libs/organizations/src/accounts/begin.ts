/** An organization that a person begins who signed in. It is no operation: there is no organization to call it in. */
import { type Db, newId, sql } from '@muster/database';
import { OrgName } from '@muster/registry';
import { parseWith } from '@muster/runtime';
import { z } from 'zod';
import { handleFor, slugFor } from '../rules/handles.ts';
import { startingSeats } from '../rules/entitlement.ts';

const Beginning = z.strictObject({ name: OrgName });

export interface Founder {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** What a transport knows of the request. */
export interface BeginningFacts {
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

/** `owner`: the account owns an organization already. */
export type Begun = { readonly slug: string } | 'owner';

/** A slug of six random digits more is free, or something is wrong. */
const mostTries = 5;

/**
 * Makes a free organization with the account as its owner, under a slug made of its name. An account owns one at most that it
 * made. In a transaction of sign-in; throws 400 for a name that does not fit.
 */
export async function beginOrganization(
  db: Db,
  account: Founder,
  input: { readonly name: string },
  facts: BeginningFacts,
): Promise<Begun> {
  const { name } = parseWith(Beginning, input, 'This is no name of an organization.');
  const wanted = slugFor(name);
  let slug = wanted;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const { outcome } = await db.one(
      sql<{
        outcome: 'made' | 'owner' | 'taken';
      }>`select app.begin_organization(${account.id}::uuid, ${newId()}::uuid, ${newId()}::uuid,
         ${name}, ${slug}, ${handleFor(account.name, account.email)}, ${startingSeats.free}, ${newId()}::uuid,
         ${JSON.stringify(facts)}::jsonb) as outcome`,
    );
    if (outcome === 'made') return { slug };
    if (outcome === 'owner') return 'owner';
    slug = `${wanted}-${newId().slice(-6)}`;
  }
  throw new Error('no slug was free');
}
