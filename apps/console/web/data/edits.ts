/** Changes of the fields of one record: shown before they are answered, and never over what another wrote meanwhile. */
import { useEffect, useRef, useState } from 'react';
import { isRefusal } from '@muster/client';

/** What one wrote, and the record as another left it, where both changed the same field. */
export interface Meeting<Shown> {
  readonly mine: Partial<Shown>;
  readonly theirs: Shown;
}

export interface Edits<Shown> {
  /** The record with what is on its way. */
  readonly shown: Shown;
  readonly meetings: Readonly<Partial<Record<keyof Shown, Meeting<Shown>>>>;
  /**
   * True where it was saved. `base` is the record that one began from, by default the one that is shown. After a meeting it is
   * theirs, so that to save again writes over what one has seen.
   */
  readonly save: (patch: Partial<Shown>, base?: Shown) => Promise<boolean>;
  /** Leaves their version of these fields as it is. */
  readonly keepTheirs: (...fields: readonly (keyof Shown)[]) => void;
}

interface Calls<Shown> {
  readonly read: () => Promise<Shown>;
  readonly write: (patch: Partial<Shown>, expectedVersion: number) => Promise<unknown>;
  /** After each write that was tried: whatever shows the record is read anew. */
  readonly after: () => Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
  /** The page was left before a meeting could be shown on it. */
  readonly onUnseen: (meeting: Meeting<Shown>, saveMine: () => void) => void;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether one of the fields is as none of ours is: not as it was, and not as it was written from here. */
const isMet = <Shown>(
  theirs: Shown,
  fields: readonly (keyof Shown)[],
  ours: readonly Partial<Shown>[],
): boolean => fields.some((field) => ours.every((one) => !isSame(theirs[field], one[field])));

const without = <Fields extends object>(all: Fields, isOut: (field: keyof Fields) => boolean): Fields =>
  Object.fromEntries(Object.entries(all).filter(([field]) => !isOut(field as keyof Fields))) as Fields;

export function useEdits<Shown extends { readonly version: number }>(
  record: Shown,
  calls: Calls<Shown>,
): Edits<Shown> {
  type Field = keyof Shown;
  const [pending, setPending] = useState<Partial<Shown>>({});
  type Meetings = Partial<Record<Field, Meeting<Shown>>>;
  const [meetings, setMeetings] = useState<Meetings>({} as Meetings);
  /** What was saved from here: to find it on the server is no change by another. */
  const own = useRef<Partial<Shown>>({});
  const before = useRef<Promise<unknown>>(Promise.resolve());
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const latest = useRef(calls);
  latest.current = calls;

  const drop = (fields: readonly Field[]): void =>
    setMeetings((last) => without(last, (field) => fields.includes(field)));

  const write = async (patch: Partial<Shown>, base: Shown): Promise<boolean> => {
    const { read, write: call, after, onFailure, onUnseen } = latest.current;
    const fields = Object.keys(patch) as Field[];
    let isSaved = false;
    try {
      for (let expected = base.version; !isSaved;) {
        try {
          await call(patch, expected);
          own.current = { ...own.current, ...patch };
          isSaved = true;
        } catch (error) {
          if (!isRefusal(error, 'version_mismatch')) throw error;
          const theirs = await read();
          if (isMet(theirs, fields, [base, patch, own.current])) {
            const meeting = { mine: patch, theirs };
            if (isGone.current) onUnseen(meeting, () => void write(patch, theirs));
            setMeetings((last) => ({
              ...last,
              ...Object.fromEntries(fields.map((field) => [field, meeting])),
            }));
            break;
          }
          // What they changed is another field: both changes have room.
          expected = theirs.version;
        }
      }
    } catch (error) {
      onFailure(error);
    }
    await after();
    // What was typed since is on its way still.
    setPending((last) => without(last, (field) => last[field] === patch[field]));
    return isSaved;
  };

  return {
    shown: { ...record, ...pending },
    meetings,
    keepTheirs: (...fields) => drop(fields),
    save: (patch, base = record) => {
      const fields = Object.keys(patch) as Field[];
      const seen = fields.map((field) => meetings[field]?.theirs).find((theirs) => theirs !== undefined);
      drop(fields);
      setPending((last) => ({ ...last, ...patch }));
      // One after the other: the next begins from what the last one left.
      const saved = before.current.then(() => write(patch, seen ?? base));
      before.current = saved;
      return saved;
    },
  };
}
