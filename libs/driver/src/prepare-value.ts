/** Serializes JavaScript values for the wire with pg's own function, so that bursts and pg.query agree. */
// oxlint-disable-next-line typescript/triple-slash-reference -- projects that import this one need the declaration too
/// <reference path="./pg-utils.d.ts" />
import utils from 'pg/lib/utils';

export const prepareValue = (value: unknown): unknown => utils.prepareValue(value);
