import { formatDateTime, timeAgo } from '../messages/index.ts';

interface TimeAgoProps {
  readonly at: string;
  readonly className?: string;
}

/** Says how long ago a time was. Its tooltip shows the exact time. */
export const TimeAgo = ({ at, className }: TimeAgoProps) => (
  <time className={className} dateTime={at} title={formatDateTime(at)}>
    {timeAgo(at)}
  </time>
);
