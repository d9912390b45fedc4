/** The readers of each forge's deliveries. */
import { type ForgeKind } from '@muster/contract';
import { type DeliveryContent, type EventReaders } from './fact.ts';
import { gitea } from './gitea.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';

export const eventReadersByForge: Readonly<Record<ForgeKind, EventReaders>> = {
  github,
  gitlab,
  gitea,
  forgejo: gitea,
};

/** Returns true if the payload of this event is read at all. */
export const isReadEvent = (kind: ForgeKind, event: string): boolean =>
  Object.hasOwn(eventReadersByForge[kind], event) && typeof eventReadersByForge[kind][event] === 'function';

/** Reads a delivery. Throws a ZodError if the payload does not match the forge's documentation. */
export function readDelivery(kind: ForgeKind, event: string, payload: unknown): DeliveryContent {
  const known = eventReadersByForge[kind];
  const reader = Object.hasOwn(known, event) ? known[event] : undefined;
  if (reader === undefined) return { ignored: 'unknown event' };
  return typeof reader === 'string' ? { ignored: reader } : reader(payload);
}
