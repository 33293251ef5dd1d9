ALTER TABLE `file_folders` ADD `told_percent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `file_folders` ADD `delete_at` integer;--> statement-breakpoint
ALTER TABLE `file_folders` ADD `look_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `file_folders_by_look` ON `file_folders` (`look_at`);