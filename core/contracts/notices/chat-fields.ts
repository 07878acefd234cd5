import type { Chat } from '../../domain/notices/notice-ways.ts';

/** Names of the chats in the contract's notification object. */
export const CHAT_FIELDS = {
  slack: 'chat_a_webhook_url',
  discord: 'chat_b_webhook_url',
} as const satisfies Readonly<Record<Chat, string>>;
export type ChatField = (typeof CHAT_FIELDS)[Chat];
