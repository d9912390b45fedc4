/** The usage of meters, as callers see it. */
import { type LicenseRefusal } from './standing.ts';

/** The usage of a meter in one period, as the service signed it. */
export interface MeterUsage {
  readonly meter: string;
  /** A month in UTC such as `2027-03`, or `total`. */
  readonly period: string;
  readonly used: number;
  /** Null if there is no limit. */
  readonly limit: number | null;
}

export interface MeterReport {
  /**
   * The service counted the event; or it waits on this machine and is sent with a later report; or the event was refused,
   * for example because the limit is reached. Events wait if the service does not answer while the license is valid
   * offline, and if the meter has too many events of one day.
   */
  readonly outcome: 'counted' | 'queued' | 'refused';
  /** The reason why the event was not counted: `meter_exceeded`, `unreachable` and others. Null if it was counted. */
  readonly reason: string | null;
  /** The usage of all meters of the license. Empty if the service did not answer. */
  readonly usage: readonly MeterUsage[];
}

export type LicenseUsage =
  | { readonly isKnown: true; readonly usage: readonly MeterUsage[] }
  | (Omit<LicenseRefusal, 'mayRun'> & { readonly isKnown: false });
