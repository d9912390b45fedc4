/** Pages of SCIM, which begin at a number (RFC 7644, section 3.4.2.4). */
export interface PageRange {
  /** The number of the first resource, from 1. */
  readonly startIndex: number;
  readonly count: number;
}
