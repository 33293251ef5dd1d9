ALTER TABLE `line_group_people` ADD `news` text;--> statement-breakpoint
CREATE INDEX `line_group_people_by_news` ON `line_group_people` (`group_id`) WHERE news IS NOT NULL;