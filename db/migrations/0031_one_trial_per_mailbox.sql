CREATE TABLE `kept_keys` (
	`purpose` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trials_given` (
	`mailbox` text PRIMARY KEY NOT NULL,
	`given_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `users` ADD `mailbox` text;--> statement-breakpoint
CREATE INDEX `users_by_mailbox` ON `users` (`mailbox`) WHERE mailbox IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_without_mailbox` ON `users` (`confirmed_at`) WHERE mailbox IS NULL AND confirmed_at IS NOT NULL AND password_hash <> '';