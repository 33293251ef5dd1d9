ALTER TABLE `sign_in_challenges` ADD `new_browser` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `sign_in_challenges` ADD `user_agent` text;--> statement-breakpoint
ALTER TABLE `sign_in_challenges` ADD `address` text;--> statement-breakpoint
CREATE INDEX `sign_in_challenges_by_end` ON `sign_in_challenges` (`expires_at`);