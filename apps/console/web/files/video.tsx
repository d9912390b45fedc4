/** Plays a video in place. */
import { useState } from 'react';

interface VideoProps {
  readonly name: string;
  readonly downloadUrl: string;
}

export function Video({ name, downloadUrl }: VideoProps) {
  // The address changes every few minutes. A new one would restart the video, so it is used only once the old one fails.
  const [source, setSource] = useState(downloadUrl);
  return (
    <video
      className="file-video"
      src={source}
      aria-label={name}
      controls
      preload="metadata"
      playsInline
      onError={() => {
        setSource(downloadUrl);
      }}
    />
  );
}
