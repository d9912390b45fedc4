/** The client whose methods are the operations of the registry. */
import { type ClientOf, createClientOf, type Transport } from '@muster/client-core';
import { type Registry } from '@muster/registry';
import { kinds } from './kinds.generated.ts';

export type Client = ClientOf<Registry>;

/** Creates a client whose calls go through `transport`. */
export const createClient = (transport: Transport): Client => createClientOf<Registry>(kinds, transport);
