/** The frame of all pages, without scripts. */
import { createPageFrame, type PageFrameOptions, type RenderedPage, sendRenderedPage } from '@muster/http';
import { type FastifyReply } from 'fastify';

export interface ServicePage extends Pick<PageFrameOptions, 'title' | 'body' | 'layout' | 'barContent'> {
  readonly status?: number;
}

export const renderPage: (page: ServicePage) => RenderedPage = createPageFrame({
  name: 'Licenses',
  homePath: '/',
});

export const sendPage = (reply: FastifyReply, page: ServicePage): FastifyReply =>
  sendRenderedPage(reply, renderPage(page), page.status);

/** Formats a time for people, in UTC. */
export const formatTime = (time: string | null, placeholder = '–'): string =>
  time === null ? placeholder : `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

export const formatDay = (time: string | null, placeholder: string): string =>
  time === null ? placeholder : time.slice(0, 10);
