/**
 * Edits fields of one record. Changes are shown before the response arrives, and never overwrite a change by
 * someone else unseen.
 */
import { useEffect, useRef, useState } from 'react';
import { isRefusal } from '@muster/client';

/**
 * An edit conflict: one's own change, and the record as someone else saved it, where both changed the same
 * field.
 */
export interface EditConflict<Shown> {
  readonly mine: Partial<Shown>;
  readonly theirs: Shown;
}

export interface Edits<Shown> {
  /** The record with pending changes applied. */
  readonly displayedRecord: Shown;
  readonly conflicts: Readonly<Partial<Record<keyof Shown, EditConflict<Shown>>>>;
  /**
   * Saves a change and returns true on success. `base` is the record on which the edit is based, by default
   * the one that is shown. After a conflict, `base` is the other person's version, so that saving again
   * overwrites only values that the reader has seen.
   */
  readonly save: (patch: Partial<Shown>, base?: Shown) => Promise<boolean>;
  /** Discards the reader's own changes of these fields. */
  readonly keepTheirs: (...fields: readonly (keyof Shown)[]) => void;
}

interface EditCallbacks<Shown> {
  readonly fetchRecord: () => Promise<Shown>;
  /** Sends the patch of the record `base`, whose fields in the patch no one else has changed. */
  readonly sendPatch: (patch: Partial<Shown>, expectedVersion: number, base: Shown) => Promise<unknown>;
  /** Combines both changes of the same fields into one patch of `theirs`. Resolves to undefined if they overlap. */
  readonly mergeConflict?: (
    patch: Partial<Shown>,
    base: Shown,
    theirs: Shown,
  ) => Promise<Partial<Shown> | undefined>;
  /** Called after each attempted write, to refetch everything that shows the record. */
  readonly refetchAll: () => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
  /** Called for a conflict that cannot be shown because the page was left. */
  readonly onUnseenConflict: (meeting: EditConflict<Shown>, saveMine: () => void) => void;
}

const isDeepEqual = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right);

/**
 * Returns true if someone else changed any of the fields: its value differs from each of `ours`, which are
 * the base and our own writes.
 */
const isConflict = <Shown>(
  theirs: Shown,
  fields: readonly (keyof Shown)[],
  ownVersions: readonly Partial<Shown>[],
): boolean => fields.some((field) => ownVersions.every((one) => !isDeepEqual(theirs[field], one[field])));

const withoutFields = <Fields extends object>(
  all: Fields,
  isExcluded: (field: keyof Fields) => boolean,
): Fields =>
  Object.fromEntries(Object.entries(all).filter(([field]) => !isExcluded(field as keyof Fields))) as Fields;

export function useEdits<Shown extends { readonly version: number }>(
  record: Shown,
  callbacks: EditCallbacks<Shown>,
): Edits<Shown> {
  type Field = keyof Shown;
  const [pending, setPending] = useState<Partial<Shown>>({});
  type Meetings = Partial<Record<Field, EditConflict<Shown>>>;
  const [meetings, setMeetings] = useState<Meetings>({} as Meetings);
  /** The values that this component saved last. If the server has such a value, that is not a conflict. */
  const own = useRef<Partial<Shown>>({});
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const latest = useRef(callbacks);
  latest.current = callbacks;

  const drop = (fields: readonly Field[]): void =>
    setMeetings((last) => withoutFields(last, (field) => fields.includes(field)));

  const write = async (patch: Partial<Shown>, base: Shown): Promise<boolean> => {
    const {
      fetchRecord,
      sendPatch: call,
      mergeConflict,
      refetchAll,
      onFailure,
      onUnseenConflict,
    } = latest.current;
    const fields = Object.keys(patch) as Field[];
    let isSaved = false;
    let merged: { readonly patch: Partial<Shown>; readonly base: Shown } | undefined;
    try {
      for (let expected = base.version; !isSaved;) {
        try {
          await call(merged?.patch ?? patch, expected, merged?.base ?? base);
          // A merged value is not only ours, so a later change of it can be a conflict.
          if (merged === undefined) own.current = { ...own.current, ...patch };
          isSaved = true;
        } catch (error) {
          if (!isRefusal(error, 'version_mismatch')) throw error;
          const theirs = await fetchRecord();
          merged = undefined;
          if (isConflict(theirs, fields, [base, patch, own.current])) {
            const both = await mergeConflict?.(patch, base, theirs);
            if (both === undefined) {
              const meeting = { mine: patch, theirs };
              if (isGone.current) onUnseenConflict(meeting, () => void write(patch, theirs));
              const met = Object.fromEntries(fields.map((field) => [field, meeting]));
              setMeetings((last) => ({ ...last, ...met }));
              break;
            }
            merged = { patch: both, base: theirs };
          }
          // The write is repeated for their version, which keeps both changes.
          expected = theirs.version;
        }
      }
    } catch (error) {
      onFailure(error);
    }
    await refetchAll();
    // Fields that were changed again during the save stay pending.
    setPending((last) => withoutFields(last, (field) => last[field] === patch[field]));
    return isSaved;
  };

  return {
    displayedRecord: { ...record, ...pending },
    conflicts: meetings,
    keepTheirs: (...fields) => drop(fields),
    save: (patch, base = record) => {
      const fields = Object.keys(patch) as Field[];
      const seen = fields.map((field) => meetings[field]?.theirs).find((theirs) => theirs !== undefined);
      drop(fields);
      setPending((last) => ({ ...last, ...patch }));
      // Saves run one after the other, so that each starts from the previous result.
      const saved = before.current.then(() => write(patch, seen ?? base));
      before.current = saved;
      return saved;
    },
  };
}
