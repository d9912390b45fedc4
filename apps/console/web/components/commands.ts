/** The actions of the command palette. Components register them while they are shown. */
import { useLayoutEffect } from 'react';
import { useStableCallback } from './steady.ts';

export interface Command {
  readonly id: string;
  readonly name: string;
  readonly mark?: string;
  readonly run: () => void;
}

type GetCommands = () => readonly Command[];
const sources: GetCommands[] = [];

/** Registers actions. They are read when the palette opens. */
export function useCommands(getCommands: GetCommands): void {
  const read = useStableCallback(getCommands);
  useLayoutEffect(() => {
    sources.push(read);
    return () => void sources.splice(sources.indexOf(read), 1);
  }, [read]);
}

/** Returns the actions of the page, followed by those of its frame. */
export const readCommands: GetCommands = () => sources.toReversed().flatMap((read) => read());
