CREATE TABLE `alerts` (
	`matter` text PRIMARY KEY NOT NULL,
	`told_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `launches` ADD `terminate_asked_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `reply_to` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `billed_from` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `unseen_since` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `unseen_looks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `servers` ADD `set_aside_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `servers` ADD `retired_at` integer;--> statement-breakpoint
ALTER TABLE `sign_ins` ADD `network` text;--> statement-breakpoint
CREATE INDEX `sign_ins_by_network` ON `sign_ins` (`network`);--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `paid_until` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `stop_warned_at` integer;