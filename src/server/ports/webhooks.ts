/** What an endpoint answered. `taken`: with a 2xx. `status` is null without an answer; `text` then says why. */
export type WebhookAnswer = { taken: boolean; status: number | null; text: string }

/** Posts one message and waits a bounded time. Never throws: a failure is an answer. */
export type PostWebhook = (url: string, headers: Record<string, string>, body: string) => Promise<WebhookAnswer>
