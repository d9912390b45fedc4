/** Ids are made by the app: UUIDv7 (RFC 9562), so that they sort by time and indexes grow at one end. */
import { v7 } from 'uuid';

export const newId = (): string => v7();
