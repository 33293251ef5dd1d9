CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`act` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` text,
	`reason` text NOT NULL,
	`detail` text
);
--> statement-breakpoint
CREATE INDEX `audit_log_by_time` ON `audit_log` (`at`);--> statement-breakpoint
CREATE INDEX `audit_log_by_user` ON `audit_log` (`user_id`,`at`);--> statement-breakpoint
ALTER TABLE `sign_ins` ADD `password_at` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `held_at` integer;--> statement-breakpoint
CREATE TRIGGER `audit_log_keeps` BEFORE UPDATE ON `audit_log` BEGIN SELECT RAISE(ABORT, 'The audit log can not be changed.'); END;--> statement-breakpoint
CREATE TRIGGER `audit_log_stays` BEFORE DELETE ON `audit_log` BEGIN SELECT RAISE(ABORT, 'The audit log can not be changed.'); END;--> statement-breakpoint
CREATE TRIGGER `audit_log_replaces_nothing` BEFORE INSERT ON `audit_log` WHEN EXISTS (SELECT 1 FROM `audit_log` WHERE `id` = NEW.`id`) BEGIN SELECT RAISE(ABORT, 'The audit log can not be changed.'); END;
