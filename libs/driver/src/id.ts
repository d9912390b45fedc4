/** Creates IDs in the application as UUIDv7 (RFC 9562). They sort by time, so indexes grow at one end. */
import { v7 } from 'uuid';

export const newId = (): string => v7();
